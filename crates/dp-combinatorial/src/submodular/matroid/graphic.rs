//! Edges without a cycle.

use serde::{Deserialize, Serialize};

use super::Matroid;
use crate::CombinatorialError;

/// The forests of a public graph; the elements are its edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Graphic {
    vertices: usize,
    edges: Vec<(usize, usize)>,
}

impl Graphic {
    /// A graph by its edges; parallel edges are allowed, and an edge from a vertex to itself can
    /// never be chosen.
    ///
    /// # Errors
    /// [`CombinatorialError::Index`] if an edge has an end that is no vertex, or
    /// [`CombinatorialError::OutOfRange`] if there are more than `2^24` vertices.
    pub fn new(vertices: usize, edges: Vec<(usize, usize)>) -> Result<Self, CombinatorialError> {
        super::check_size("vertices", vertices)?;
        if let Some(end) = edges.iter().map(|&(a, b)| a.max(b)).find(|&end| end >= vertices) {
            let (name, of) = ("end of an edge", "the number of vertices");
            return Err(CombinatorialError::index(name, end, of, vertices));
        }
        Ok(Self { vertices, edges })
    }

    /// The components that the edges of a set make.
    fn components(&self, set: &[usize]) -> Components {
        let mut components = Components { parent: (0..self.vertices).collect() };
        for &edge in set {
            components.join(self.edges[edge]);
        }
        components
    }
}

impl Matroid for Graphic {
    fn elements(&self) -> usize {
        self.edges.len()
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        let (from, to) = self.edges[element];
        let mut components = self.components(set);
        components.root(from) != components.root(to)
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        let mut components = self.components(set);
        let mut joins = |edge: &usize| {
            let (from, to) = self.edges[*edge];
            components.root(from) != components.root(to)
        };
        (0..self.edges.len()).filter(|edge| joins(edge)).collect()
    }

    fn base(&self) -> Vec<usize> {
        let mut components = self.components(&[]);
        (0..self.edges.len()).filter(|&edge| components.join(self.edges[edge])).collect()
    }
}

/// Union-find with path halving.
struct Components {
    parent: Vec<usize>,
}

impl Components {
    fn root(&mut self, mut vertex: usize) -> usize {
        while self.parent[vertex] != vertex {
            self.parent[vertex] = self.parent[self.parent[vertex]];
            vertex = self.parent[vertex];
        }
        vertex
    }

    /// Whether the ends were apart before.
    fn join(&mut self, (from, to): (usize, usize)) -> bool {
        let (from, to) = (self.root(from), self.root(to));
        self.parent[from] = to;
        from != to
    }
}

/// The file form; reading it goes through [`Graphic::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    vertices: usize,
    edges: Vec<(usize, usize)>,
}

impl TryFrom<Unchecked> for Graphic {
    type Error = CombinatorialError;

    fn try_from(raw: Unchecked) -> Result<Self, CombinatorialError> {
        Self::new(raw.vertices, raw.edges)
    }
}

impl From<Graphic> for Unchecked {
    fn from(matroid: Graphic) -> Self {
        Self { vertices: matroid.vertices, edges: matroid.edges }
    }
}
