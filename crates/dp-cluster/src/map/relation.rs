//! Between which data sets a map is private, and what follows from that.

use dp_accounting::{AddRemove, Relation, ReplaceOne, Within};
use dp_geometry::PointsView;
use dp_mechanism::{Change, Coordinates, Modulus, Nearby};

use crate::ClusterError;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AddRemove {}
    impl Sealed for super::ReplaceOne {}
    impl Sealed for super::Within {}
}

/// A relation under which there is a [`PrivateMap`](super::PrivateMap).
pub trait MapRelation: Relation + sealed::Sealed {
    /// What of the records is public.
    type Shape;

    /// Whether all neighbours have the same number of records, which then is public.
    const PUBLIC_SIZE: bool;

    /// Of these records.
    fn shape(points: PointsView<'_>) -> Self::Shape {
        Self::shape_of(points.dim(), points.len() as u64)
    }

    /// Of so many records of this dimension.
    fn shape_of(dim: usize, records: u64) -> Self::Shape;

    /// Refuses records of another dimension, or of another number where that is public.
    ///
    /// # Errors
    /// [`ClusterError::Dimension`], [`ClusterError::Records`].
    fn check(shape: &Self::Shape, dim: usize, records: Option<u64>) -> Result<(), ClusterError>;

    /// How much one level changes between neighbours.
    fn change(self, level: &Modulus<Coordinates>) -> Change;
}

impl MapRelation for AddRemove {
    /// The dimension.
    type Shape = usize;

    const PUBLIC_SIZE: bool = false;

    fn shape_of(dim: usize, _: u64) -> usize {
        dim
    }

    fn check(&got: &usize, dim: usize, _: Option<u64>) -> Result<(), ClusterError> {
        ClusterError::unless_equal(dim, got)
    }

    fn change(self, level: &Modulus<Coordinates>) -> Change {
        level.added()
    }
}

/// What is public where neighbours have the same number of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicSize {
    /// Of the records.
    pub dim: usize,
    /// How many there are.
    pub records: u64,
}

impl PublicSize {
    fn check(self, dim: usize, records: Option<u64>) -> Result<(), ClusterError> {
        ClusterError::unless_equal(dim, self.dim)?;
        match records {
            Some(expected) if expected != self.records => {
                Err(ClusterError::Records { expected, got: self.records })
            }
            _ => Ok(()),
        }
    }
}

impl MapRelation for ReplaceOne {
    type Shape = PublicSize;

    const PUBLIC_SIZE: bool = true;

    fn shape_of(dim: usize, records: u64) -> PublicSize {
        PublicSize { dim, records }
    }

    fn check(shape: &PublicSize, dim: usize, records: Option<u64>) -> Result<(), ClusterError> {
        shape.check(dim, records)
    }

    fn change(self, level: &Modulus<Coordinates>) -> Change {
        level.replaced()
    }
}

impl MapRelation for Within {
    type Shape = PublicSize;

    const PUBLIC_SIZE: bool = true;

    fn shape_of(dim: usize, records: u64) -> PublicSize {
        PublicSize { dim, records }
    }

    fn check(shape: &PublicSize, dim: usize, records: Option<u64>) -> Result<(), ClusterError> {
        shape.check(dim, records)
    }

    fn change(self, level: &Modulus<Coordinates>) -> Change {
        level.moved(Nearby::new(self.rho()).expect("the relation has checked it"))
    }
}
