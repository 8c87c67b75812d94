package parquet

import (
	"io"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File reads a Parquet file by row groups and columns. The values read are those written: Open
// checked all bytes against the seal, and after OpenPartly each page is checked by its checksum. It
// must be used by one goroutine.
type File struct {
	f       *file
	columns []Column
	cursors []*cursor
}

// Open opens the file at, of size bytes. It fails with ErrUnsealed for a file that capcli did not
// write, and with *capcli.InputError for a damaged one.
func Open(at io.ReaderAt, size int64) (*File, error) { return fileOf(&file{at: at, size: size}) }

// OpenPartly is Open for a file of which only parts are wanted: it reads the footer alone, and so
// does not check the seal.
func OpenPartly(at io.ReaderAt, size int64) (*File, error) {
	return fileOf(&file{at: at, size: size, partly: true})
}

func fileOf(f *file) (*File, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	if !f.sealed {
		return nil, ErrUnsealed
	}
	out := &File{f: f, cursors: make([]*cursor, len(f.columns))}
	for i := range f.columns {
		kind, ok := kindOf(&f.columns[i])
		if !ok {
			return nil, refused("read it with the version that wrote it", "column %q is of no kind that capcli writes", f.columns[i].name)
		}
		out.columns = append(out.columns, Column{Name: f.columns[i].name, Kind: kind, Nullable: f.columns[i].optional})
	}
	return out, nil
}

// kindOf returns the Kind with which Table wrote a column; false where Table writes no such
// column.
func kindOf(l *leaf) (Kind, bool) {
	_, stamp := l.logical.(*format.TimestampType)
	switch l.kind {
	case pq.ByteArray:
		return Text, true
	case pq.Int32:
		return Int32, true
	case pq.Int64:
		if stamp {
			return Instant, l.unit == 1_000_000
		}
		return Int64, true
	case pq.Float:
		return Float32, true
	case pq.Double:
		return Float64, true
	default:
		return 0, false
	}
}

// Columns returns the columns, without Repeats and Packing.
func (f *File) Columns() []Column { return slices.Clone(f.columns) }

// Meta returns the value of a metadata key; false where the file lacks the key.
func (f *File) Meta(key string) (string, bool) {
	for _, kv := range f.f.meta.KeyValueMetadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.f.meta.NumRows }

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.f.meta.RowGroups) }

// GroupRows returns the number of rows of a row group.
func (f *File) GroupRows(group int) int64 { return f.f.meta.RowGroups[group].NumRows }

// Chunk returns the offset and the length in bytes of a column of a row group; col is its index in
// Columns. It fails with *capcli.InputError where they cannot be right.
func (f *File) Chunk(group, col int) (offset, length int64, err error) {
	c, err := f.f.chunk(group, &f.f.columns[col])
	if err != nil {
		return 0, 0, err
	}
	return c.off, c.end - c.off, nil
}

// Read sets v to a column of a row group; col is its index in Columns. v must be of the kind of
// the column, and is resized to the rows of the group.
func (f *File) Read(group, col int, v *Vector) error {
	const limit = 1 << 24 // rows in memory at once; Table writes far fewer
	n := f.GroupRows(group)
	if n > limit {
		return refused("write smaller row groups", "row group of %d rows, over the limit of %d", n, limit)
	}
	cur := f.cursors[col]
	if cur == nil {
		var err error
		if cur, err = newCursor(f.f, f.f.columns[col], false); err != nil {
			return err
		}
		f.cursors[col] = cur
	}
	cur.seek(group)
	v.Resize(int(n))
	for from := 0; from < int(n); from += batch {
		if err := cur.read(v.Part(from, min(from+batch, int(n)))); err != nil {
			return err
		}
	}
	return nil
}

// seek moves the cursor to the first row of a row group.
func (c *cursor) seek(group int) {
	c.group, c.rows = group, 0
	if c.ch != nil {
		c.ch.left = 0
	}
}
