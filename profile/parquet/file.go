package parquet

import (
	"io"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File reads a Parquet file by row groups and columns. All of its bytes were
// held against the seal when it was opened, so that what is read is what was
// written. It is for one goroutine.
type File struct {
	f       *file
	columns []Column
	cursors []*cursor
}

// Open opens a file that capcli wrote; one of other origin gives ErrUnsealed.
func Open(at io.ReaderAt, size int64) (*File, error) {
	f, err := open(at, size)
	if err != nil {
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

// kindOf is the Kind that a column was written as.
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

// Columns gives the columns; how they are packed is not told.
func (f *File) Columns() []Column { return slices.Clone(f.columns) }

// Meta gives a value of the metadata.
func (f *File) Meta(key string) (string, bool) {
	for _, kv := range f.f.meta.KeyValueMetadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

// Rows counts all rows.
func (f *File) Rows() int64 { return f.f.meta.NumRows }

// Groups counts the row groups.
func (f *File) Groups() int { return len(f.f.meta.RowGroups) }

// GroupRows counts the rows of a row group.
func (f *File) GroupRows(group int) int64 { return f.f.meta.RowGroups[group].NumRows }

// Read fills v with a column of a row group; col is its place in Columns. v
// must be of the column's kind, and gets as many rows as the group has.
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

// seek makes the first row of a row group the next to be read.
func (c *cursor) seek(group int) {
	c.group, c.rows = group, 0
	if c.ch != nil {
		c.ch.left = 0
	}
}
