//! A plan as bytes, run where nothing is known of it but the codec.

use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_plan::collect;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::{DefaultPhysicalExtensionCodec, PhysicalExtensionCodec};
use dp_datafusion::{Answer, CountPass, NAME, PassCodec, Records, Run};

use crate::support::{
    NAMES, Plan, batch, kmeans, map, recentred, records, session, table, wait, write_parquet,
};

#[test]
fn a_release_by_executors_that_get_bytes() {
    by_executors(recentred(2));
    by_executors(kmeans(2));
}

fn by_executors<P: Plan>(plan: P) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.parquet");
    let points = records(500, 2);
    write_parquet(&file, &batch(&points, 0..500));
    let name = file.display().to_string();
    let files = wait(Records::parquet(&session(4), &[&name], &NAMES[..2])).expect("columns");
    let mut run = Run::new(plan, files).expect("fits");
    let executor = session(4);
    let mut source = dp_cluster::chacha_from_os().expect("random");
    loop {
        let plan = wait(run.plan()).expect("a plan");
        let sent = physical_plan_to_bytes_with_extension_codec(plan, &PassCodec).expect("bytes");
        let task = executor.task_ctx();
        let none = DefaultPhysicalExtensionCodec {};
        assert!(physical_plan_from_bytes_with_extension_codec(&sent, &task, &none).is_err());
        let plan = physical_plan_from_bytes_with_extension_codec(&sent, &task, &PassCodec);
        let batches = wait(collect(plan.expect("a plan"), task)).expect("counted");
        let answer = Answer::of_batches(&batches).expect("one answer");
        assert_eq!(answer, wait(run.count()).expect("counted here"));
        if run.answer(&answer, &mut source).expect("all of them").is_some() {
            return;
        }
    }
}

#[test]
fn functions_keep_their_question_and_others_are_refused() {
    let points = records(20, 2);
    let records = table(vec![vec![batch(&points, 0..20)]], &NAMES[..2]);
    let run = Run::new(recentred(2), records).expect("fits");
    let pass = CountPass::new(run.asked().clone());
    let (text, mut sent) = (format!("{pass:?}"), vec![]);
    assert!(text.len() < 200, "{text}");
    PassCodec.try_encode_udaf(&AggregateUDF::from(pass), &mut sent).expect("ours");
    let back = PassCodec.try_decode_udaf(NAME, &sent).expect("whole");
    assert_eq!(*back, AggregateUDF::from(CountPass::new(run.asked().clone())));
    assert!(PassCodec.try_decode_udaf("sum", &sent).is_err());
    for cut in [0, 1, sent.len() / 2, sent.len() - 1] {
        assert!(PassCodec.try_decode_udaf(NAME, &sent[..cut]).is_err());
    }
    let other = Run::new(map(), table(vec![vec![batch(&points, 0..20)]], &NAMES[..2]));
    let other = CountPass::new(other.expect("fits").asked().clone());
    assert_ne!(*back, AggregateUDF::from(other));
}
