//! One partition's share of a pass as a node of a plan that says itself what it asks.
//!
//! The codec of `datafusion-distributed` 4.0 stands before that of its users, accepts each aggregate function and writes nothing of it, so
//! that a worker would get [`CountPass`] without its question. Nodes that it does not know it leaves to others.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::Error;
use crate::function::CountPass;

/// An [`AggregateExec`] of [`CountPass`] over some columns, in each partition.
#[derive(Debug)]
struct CountExec {
    pass: Arc<AggregateUDF>,
    /// Places in the schema of the input.
    columns: Vec<u32>,
    counts: Arc<dyn ExecutionPlan>,
}

impl CountExec {
    fn new(
        pass: Arc<AggregateUDF>,
        columns: Vec<u32>,
        input: Arc<dyn ExecutionPlan>,
    ) -> Result<Self> {
        let schema = input.schema();
        let column = |&place: &u32| {
            let name = schema.fields().get(place as usize).map(|field| field.name());
            let name = name.ok_or_else(|| DataFusionError::External(Error::Damaged.into()))?;
            Ok(Arc::new(Column::new(name, place as usize)) as Arc<dyn PhysicalExpr>)
        };
        let columns_of = columns.iter().map(column).collect::<Result<_>>()?;
        let counts = AggregateExprBuilder::new(pass.clone(), columns_of)
            .schema(schema.clone())
            .alias("answer")
            .build()?;
        let counts = AggregateExec::try_new(
            AggregateMode::Partial,
            PhysicalGroupBy::default(),
            vec![Arc::new(counts)],
            vec![None],
            input,
            schema,
        )?;
        Ok(Self { pass, columns, counts: Arc::new(counts) })
    }

    /// What this aggregate is as a node of ours, if it is the share of a pass.
    fn of(aggregate: &AggregateExec) -> Option<Result<Self>> {
        let [counts] = aggregate.aggr_expr() else { return None };
        let ours = counts.fun().inner().is::<CountPass>();
        if !ours || *aggregate.mode() != AggregateMode::Partial {
            return None;
        }
        let place =
            |of: &Arc<dyn PhysicalExpr>| u32::try_from(of.downcast_ref::<Column>()?.index()).ok();
        let columns = counts.expressions().iter().map(place).collect::<Option<Vec<u32>>>()?;
        Some(Self::new(Arc::new(counts.fun().clone()), columns, aggregate.input().clone()))
    }
}

impl DisplayAs for CountExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountExec: columns={:?}", self.columns)
    }
}

impl ExecutionPlan for CountExec {
    fn name(&self) -> &'static str {
        "CountExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.counts.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.counts.children()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.counts.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("CountExec has one child".to_owned()));
        };
        Ok(Arc::new(Self::new(self.pass.clone(), self.columns.clone(), input)?))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.counts.execute(partition, context)
    }
}

/// Writes each share of a pass as a [`CountExec`].
#[derive(Debug)]
pub(super) struct SharesOfPasses;

impl PhysicalOptimizerRule for SharesOfPasses {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let written = plan.transform_up(|node| {
            match node.downcast_ref::<AggregateExec>().and_then(CountExec::of) {
                Some(counts) => Ok(Transformed::yes(Arc::new(counts?) as Arc<dyn ExecutionPlan>)),
                None => Ok(Transformed::no(node)),
            }
        });
        Ok(written?.data)
    }

    fn name(&self) -> &'static str {
        "shares_of_passes"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Writes [`CountExec`] and reads it back: the number of columns, their places, the question.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareCodec;

impl PhysicalExtensionCodec for ShareCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let counts = node.downcast_ref::<CountExec>();
        let pass = counts.and_then(|node| node.pass.inner().downcast_ref::<CountPass>());
        let (Some(CountExec { columns, .. }), Some(pass)) = (counts, pass) else {
            return Err(DataFusionError::NotImplemented(format!("cannot write {}", node.name())));
        };
        let length = u32::try_from(columns.len());
        let length = length.map_err(|error| DataFusionError::External(Box::new(error)))?;
        buf.extend(length.to_le_bytes());
        buf.extend(columns.iter().flat_map(|place| place.to_le_bytes()));
        buf.extend_from_slice(pass.to_bytes());
        Ok(())
    }

    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let damaged = || DataFusionError::External(Error::Damaged.into());
        let ([input], Some((length, rest))) = (inputs, buf.split_first_chunk::<4>()) else {
            return Err(damaged());
        };
        let length = (u32::from_le_bytes(*length) as usize).checked_mul(4);
        let (places, question) =
            length.and_then(|length| rest.split_at_checked(length)).ok_or_else(damaged)?;
        let columns = places.as_chunks::<4>().0.iter().map(|place| u32::from_le_bytes(*place));
        let pass = CountPass::from_bytes(question);
        let pass = pass.map_err(|error| DataFusionError::External(Box::new(error)))?;
        let pass = Arc::new(AggregateUDF::from(pass));
        Ok(Arc::new(CountExec::new(pass, columns.collect(), input.clone())?))
    }
}
