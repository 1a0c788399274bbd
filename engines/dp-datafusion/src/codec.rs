//! The function of a pass in the plans that executors get.

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::function::{CountPass, NAME};

/// Writes [`CountPass`] into physical plans and reads it back; nothing else. An executor needs this crate in its program and this codec in
/// its settings, no files and no registration.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassCodec;

impl PhysicalExtensionCodec for PassCodec {
    fn try_decode(
        &self,
        _: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Err(DataFusionError::NotImplemented("PassCodec reads no plan of its own".to_owned()))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        _: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        Err(DataFusionError::NotImplemented(format!("PassCodec cannot write {}", node.name())))
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        if let Some(pass) = node.inner().downcast_ref::<CountPass>() {
            buf.extend_from_slice(pass.to_bytes());
        }
        Ok(())
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        if name != NAME {
            return Err(DataFusionError::NotImplemented(format!("PassCodec does not know {name}")));
        }
        let pass = CountPass::from_bytes(buf);
        let pass = pass.map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(Arc::new(AggregateUDF::from(pass)))
    }
}
