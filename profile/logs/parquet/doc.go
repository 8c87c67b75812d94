// Package parquet reads and writes Apache Parquet, the column format that
// DuckDB, pandas and Spark share. It is the only importer of parquet-go.
//
// # Writing
//
// A Table is a file with named columns of text, integers, fractions and instants. A JobWriter is
// a Table that holds a job trace. Both stream: rows written one by one are held up to a row group
// of 131,072 rows. Values are compressed with zstd. They are plain by default, in a dictionary
// where Column.Repeats says so, and packed as Column.Packing says. Equal input gives equal bytes.
//
// The page checksums of Parquet do not cover headers and the footer. Each file therefore has a
// seal: the SHA-256 of all its bytes, with the digits of the seal itself taken as zeros, in the
// metadata of the footer under "capcli.sha256". A file that names capcli as its writer and has no
// seal is damaged.
//
// # Reading
//
// Limits are checked before memory is allocated for a file of unknown origin. The footer is first
// walked without building it (thrift.go); then parquet-go's OpenFile decodes it, inside a
// recover. This package reads the pages itself: it walks the header, checks the checksum,
// decompresses the page to no more than its stated size, and decodes its values 512 rows at a
// time, so that no run length or count in a page allocates memory. Only the wanted columns are
// read, each with one page in memory.
//
// The format is https://github.com/apache/parquet-format (2.10); its Thrift
// compact protocol is
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
package parquet
