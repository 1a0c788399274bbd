//! Whether a folder is what it says.

use crate::cluster::ClusterPlan;
use crate::error::Error;
use crate::folder::RELEASE;
use crate::groups::GroupPlan;
use crate::items::{FAMILY, ItemsPlan, verify_state};
use crate::ledger::{LedgerFile, sha256_hex};
use crate::locate::LocatePlan;
use crate::map::MapPlan;
use crate::order::{Named, PLAN, RECEIPT};
use crate::sets::SetPlan;
use crate::top::TopPlan;
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_census::Census;
use dp_mechanism::Mechanism;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Checks that the receipt of a release follows from its plan, is within its budget, and is counted in a ledger.
///
/// # Errors
/// [`Error::NotVerified`] says what does not fit.
pub fn verify(folder: &Path, ledger: Option<&Path>) -> Result<String, Error> {
    let refuse = |reason: String| Error::NotVerified { path: folder.to_path_buf(), reason };
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .map_err(|error| refuse(format!("{name}: {error}")))
    };
    let parse = |name: &str| {
        let text = read(name)?;
        serde_json::from_str(&text).map_err(|error| refuse(format!("{name}: {error}")))
    };
    let named: Named = serde_json::from_value(parse(RELEASE)?)
        .map_err(|error| refuse(format!("{RELEASE}: {error}")))?;
    let (plan, receipt): (String, Value) = (read(PLAN)?, parse(RECEIPT)?);
    if sha256_hex(&[plan.as_bytes()]) != named.plan {
        return Err(refuse(format!("{PLAN} is not the one that {RELEASE} names")));
    }
    let (follows, text) = match named.family.as_str() {
        "count" | "histogram" | "mean" => cost::<GroupPlan>(&plan),
        "census" => cost::<Census>(&plan),
        "cluster" if receipt["relation"] == "add-remove" => cost::<ClusterPlan<AddRemove>>(&plan),
        "cluster" => cost::<ClusterPlan<Within>>(&plan),
        "top" => cost::<TopPlan>(&plan),
        FAMILY => cost::<ItemsPlan>(&plan),
        "cover" | "coverage" => cost::<SetPlan>(&plan),
        "locate" => cost::<LocatePlan>(&plan),
        "map" => match &receipt["relation"] {
            Value::String(name) if name == "add-remove" => cost::<MapPlan<AddRemove>>(&plan),
            Value::String(_) => cost::<MapPlan<ReplaceOne>>(&plan),
            _ => cost::<MapPlan<Within>>(&plan),
        },
        other => Err(format!("this version knows no releases of the kind `{other}`")),
    }
    .map_err(&refuse)?;
    let by_group = ["count", "histogram", "mean"].contains(&named.family.as_str());
    if by_group && follows["mechanism"] != format!("quietus-{}", named.family) {
        return Err(refuse(format!("{PLAN} is not of the kind `{}`", named.family)));
    }
    if follows != receipt {
        return Err(refuse(format!("{RECEIPT} does not follow from {PLAN}")));
    }
    if named.family == FAMILY {
        verify_state(folder, (&named, &plan), ledger).map_err(&refuse)?;
    }
    let mut said = format!(
        "{text}\n\nThe receipt follows from the plan and is within its budget; {RECEIPT} has every step.\n"
    );
    if let Some(path) = ledger {
        let book = LedgerFile::at(path).read()?;
        match book.plan_of(&named.release) {
            Some((digest, counted)) if digest == named.plan && *counted == receipt => {
                said.push_str("The ledger has counted it.\n");
            }
            Some(_) => {
                return Err(refuse(
                    "the ledger has counted another release of this name".to_owned(),
                ));
            }
            None => return Err(refuse("the ledger has not counted it".to_owned())),
        }
    }
    Ok(said)
}

/// The receipt of a plan, as data and in a few words.
fn cost<M: Mechanism + DeserializeOwned>(plan: &str) -> Result<(Value, String), String> {
    let plan: M = serde_json::from_str(plan).map_err(|error| format!("{PLAN}: {error}"))?;
    let receipt = plan.receipt();
    if !receipt.within_budget() {
        return Err(format!("{RECEIPT} is above its own budget"));
    }
    let value = serde_json::to_value(&receipt).expect("a receipt has plain fields");
    Ok((value, receipt.to_string()))
}
