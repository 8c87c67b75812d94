// Package parquet reads and writes Apache Parquet, the column format that
// DuckDB, pandas and Spark share. It is the only importer of parquet-go.
//
// # Writing
//
// A Table is a file with named, nullable columns of text, integers, fractions
// and instants; a JobWriter is the Table that holds a job trace. Both stream: a
// row group of 131,072 rows is the most that is held. Values are plain, or
// through a dictionary where they repeat, under zstd: cleverer encodings came
// out larger when measured. Equal input gives equal bytes.
//
// Parquet's own page checksums leave headers and the footer open, so each file
// carries a seal: the SHA-256 of all its bytes, the digits of the seal itself
// taken as zeros, in the footer's metadata under "capcli.sha256". A file that
// says capcli wrote it and has no seal is damaged.
//
// # Reading
//
// A file from outside is met with limits before anything is allocated. The
// footer is walked once without building it (thrift.go); only then does
// parquet-go's OpenFile decode it, inside a recover. Pages are read here: the
// header is walked, the checksum held against the bytes, the page opened no
// further than its stated size, and values are taken from it 512 rows at a
// time, so that no run length or count in a page allocates anything. Of the
// columns only those that a job has are read, each with one page in memory.
//
// The format is https://github.com/apache/parquet-format (2.10); its Thrift
// compact protocol is
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
package parquet
