//! Reading the source: where a link reads, and which transactions count.

mod cursor;
pub use cursor::Cursor;

mod isolation;
pub use isolation::Aborted;
