//! Where records are: files, listed once, or any table of a session.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use datafusion::parquet::arrow::parquet_to_arrow_schema;
use datafusion::prelude::{Expr, ident};
use futures::TryStreamExt;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::function::is_number;

/// Records that an engine can count: which columns are their coordinates, and where they are.
///
/// A null counts as NaN, which every plan here counts as the middle of its side; floats and whole numbers of any width are turned into
/// the nearest [`f64`]. All else is refused by name, before anything is read. In CSV, where a file says nothing about its columns, a
/// cell that Rust does not read as a number is a null, so that no error depends on a record.
#[derive(Clone)]
pub struct Records {
    frame: DataFrame,
    columns: Vec<String>,
    files: Vec<Listed>,
    /// As the footers say, where there are any.
    rows: Option<u64>,
    hash: [u8; 32],
}

#[derive(Clone)]
struct Listed {
    name: String,
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

/// Without the number of records.
impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<&str> = self.files.iter().map(|file| &*file.name).collect();
        f.debug_struct("Records")
            .field("columns", &self.columns)
            .field("files", &files)
            .finish_non_exhaustive()
    }
}

/// Of one file: the columns that were asked for, in this order.
struct Chosen {
    fields: Vec<Field>,
    rows: Option<u64>,
}

impl Records {
    /// Parquet: files, folders (a path that ends in `/`) or patterns, here or in a store that the session knows. They are listed once; a file
    /// that changes later ends the run.
    ///
    /// # Errors
    /// What is wrong with a name, a file or a column.
    pub async fn parquet(
        session: &SessionContext,
        paths: &[&str],
        columns: &[&str],
    ) -> Result<Self, Error> {
        let columns = once(columns)?;
        let files = listed(session, paths, ".parquet").await?;
        let mut chosen = Vec::new();
        for file in &files {
            let footer =
                DFParquetMetadata::new(file.store.as_ref(), &file.meta).fetch_metadata().await?;
            let footer = footer.file_metadata();
            let schema =
                parquet_to_arrow_schema(footer.schema_descr(), footer.key_value_metadata());
            let schema = schema.map_err(DataFusionError::from)?;
            let rows = u64::try_from(footer.num_rows());
            let fields = choose(schema.fields(), &columns, &file.name)?;
            chosen.push(Chosen { fields, rows: Some(rows.map_err(|_| Error::Damaged)?) });
        }
        let fields = same(&files, &chosen)?;
        let schema = Arc::new(Schema::new(fields));
        let rows = chosen.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.rows?));
        Self::of_files(session, Arc::new(ParquetFormat::default()), &schema, columns, files, rows)
    }

    /// CSV with a line of names, with the same names in every file.
    ///
    /// One file is read by one partition, because a quoted cell may hold line breaks; and nothing says how many rows there are, so that the
    /// first pass is what later ones are compared with.
    ///
    /// # Errors
    /// As [`parquet`](Self::parquet).
    pub async fn csv(
        session: &SessionContext,
        paths: &[&str],
        columns: &[&str],
    ) -> Result<Self, Error> {
        let columns = once(columns)?;
        let files = listed(session, paths, ".csv").await?;
        let format = || CsvFormat::default().with_has_header(true).with_newlines_in_values(true);
        let (names_only, state) = (format().with_schema_infer_max_rec(1), session.state());
        let mut all: Option<Vec<String>> = None;
        for file in &files {
            let one = std::slice::from_ref(&file.meta);
            let schema = names_only.infer_schema(&state, &file.store, one).await?;
            let names: Vec<String> =
                schema.fields().iter().map(|field| field.name().clone()).collect();
            for column in &columns {
                find(&names, column, &file.name)?;
            }
            // Cells are read by their places.
            let first = all.get_or_insert_with(|| names.clone());
            if *first != names {
                let place = |of: &[String], at: usize| {
                    of.get(at).map_or("not there".to_owned(), |name| format!("`{name}`"))
                };
                let end = first.len().max(names.len());
                let at = (0..end).find(|&at| first.get(at) != names.get(at)).unwrap_or(0);
                return Err(Error::Drift {
                    column: (at + 1).to_string(),
                    place: file.name.clone(),
                    want: place(first, at),
                    got: place(&names, at),
                });
            }
        }
        let names = all.unwrap_or_default();
        let fields: Vec<Field> =
            names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        Self::of_files(session, Arc::new(format()), &schema, columns, files, None)
    }

    /// A table or a query of a session. Where its records come from, and whether each of them comes once, is its owner's business: nothing
    /// is known of files, and later passes are compared with the first one.
    ///
    /// # Errors
    /// What is wrong with a column.
    pub fn frame(frame: DataFrame, columns: &[&str]) -> Result<Self, Error> {
        let columns = once(columns)?;
        let fields = choose(frame.schema().fields(), &columns, "the table")?;
        let schema = Schema::new(fields);
        Ok(Self::of(frame, &schema, columns, vec![], None))
    }

    fn of_files(
        session: &SessionContext,
        format: Arc<dyn FileFormat>,
        schema: &SchemaRef,
        columns: Vec<String>,
        files: Vec<Listed>,
        rows: Option<u64>,
    ) -> Result<Self, Error> {
        let urls = files.iter().map(|file| ListingTableUrl::parse(&file.name));
        let urls = urls.collect::<Result<_, _>>()?;
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(ListingOptions::new(format).with_file_extension(""))
            .with_schema(schema.clone());
        // Else each plan, as text or as bytes, could hold the footers' numbers of rows, least and greatest values.
        let settings = session.copied_config().with_collect_statistics(false);
        let state = SessionStateBuilder::new_from_existing(session.state()).with_config(settings);
        let session = SessionContext::new_with_state(state.build());
        let frame = session.read_table(Arc::new(ListingTable::try_new(config)?))?;
        Ok(Self::of(frame, schema, columns, files, rows))
    }

    fn of(
        frame: DataFrame,
        schema: &Schema,
        columns: Vec<String>,
        files: Vec<Listed>,
        rows: Option<u64>,
    ) -> Self {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for column in &columns {
            add(column);
            let kind = schema.field_with_name(column).map(Field::data_type);
            add(&kind.map_or(String::new(), ToString::to_string));
        }
        for file in &files {
            let ObjectMeta { size, last_modified, e_tag, version, .. } = &file.meta;
            add(&file.name);
            add(&format!("{size} {} {e_tag:?} {version:?}", last_modified.to_rfc3339()));
        }
        let hash = hash.finalize().into();
        Self { frame, columns, files, rows, hash }
    }

    /// Of the files and the columns, not of what is in them: public where names and sizes of files are.
    pub(crate) fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    pub(crate) fn dim(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn rows(&self) -> Option<u64> {
        self.rows
    }

    pub(crate) fn coordinates(&self) -> (DataFrame, Vec<Expr>) {
        (self.frame.clone(), self.columns.iter().map(ident).collect())
    }

    /// Refuses files that are not as they were listed.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        for Listed { name, store, meta } in &self.files {
            let now = store.head(&meta.location).await;
            if !now.is_ok_and(|now| now == *meta) {
                return Err(Error::FileChanged(name.clone()));
            }
        }
        Ok(())
    }
}

fn once(columns: &[&str]) -> Result<Vec<String>, Error> {
    let mut seen = BTreeSet::new();
    match columns.iter().find(|column| !seen.insert(**column)) {
        Some(column) => Err(Error::ColumnTwice((*column).to_owned())),
        None => Ok(columns.iter().map(|column| (*column).to_owned()).collect()),
    }
}

/// All files of these names, in the order of their URLs.
async fn listed(
    session: &SessionContext,
    paths: &[&str],
    extension: &str,
) -> Result<Vec<Listed>, Error> {
    let (state, mut files) = (session.state(), Vec::new());
    for path in paths {
        let url = ListingTableUrl::parse(path)?;
        let store = session.runtime_env().object_store(&url)?;
        // A file that is named is read whatever its name ends in.
        let extension =
            if url.is_collection() || url.get_glob().is_some() { extension } else { "" };
        let found = url.list_all_files(&state, store.as_ref(), extension).await?;
        let found: Vec<ObjectMeta> = found.try_collect().await?;
        if found.is_empty() {
            return Err(Error::NoFile((*path).to_owned()));
        }
        for meta in found {
            let name = name_of(&url, &meta.location)?;
            files.push(Listed { name, store: store.clone(), meta });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    match files.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(Error::FileTwice(pair[0].name.clone())),
        None if files.is_empty() => Err(Error::NoFile(String::new())),
        None => Ok(files),
    }
}

/// The URL of one file of a store.
fn name_of(of: &ListingTableUrl, location: &Path) -> Result<String, Error> {
    let refuse = || Error::Name(location.to_string());
    let mut url = of.get_url().clone();
    url.set_path(location.as_ref());
    url.set_query(None);
    url.set_fragment(None);
    let name = url.to_string();
    let back = ListingTableUrl::parse(&name)?;
    if back.prefix() == location && back.get_glob().is_none() { Ok(name) } else { Err(refuse()) }
}

/// The columns of these names, if they are numbers.
fn choose(fields: &Fields, columns: &[String], place: &str) -> Result<Vec<Field>, Error> {
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let field = |column: &String| {
        let kind = fields[find(&names, column, place)?].data_type();
        if is_number(kind) {
            return Ok(Field::new(column, kind.clone(), true));
        }
        let (column, place, got) = (column.clone(), place.to_owned(), kind.clone());
        Err(Error::NotNumeric { column, place, got })
    };
    columns.iter().map(field).collect()
}

/// Where the column of this name is, if there is one.
fn find(names: &[String], column: &str, place: &str) -> Result<usize, Error> {
    let mut found = names.iter().enumerate().filter(|(_, name)| *name == column);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        (Some(_), Some(_)) => Err(Error::ColumnTwice(column.to_owned())),
        (None, _) => Err(Error::NoColumn { column: column.to_owned(), place: place.to_owned() }),
    }
}

/// The columns of the first file, if all have the same ones.
fn same(files: &[Listed], chosen: &[Chosen]) -> Result<Vec<Field>, Error> {
    let Some(first) = chosen.first() else { return Ok(vec![]) };
    for (file, other) in files.iter().zip(chosen) {
        for (want, got) in first.fields.iter().zip(&other.fields) {
            if want != got {
                return Err(Error::Drift {
                    column: want.name().clone(),
                    place: file.name.clone(),
                    want: want.data_type().to_string(),
                    got: got.data_type().to_string(),
                });
            }
        }
    }
    Ok(first.fields.clone())
}
