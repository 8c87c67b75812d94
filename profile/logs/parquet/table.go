package parquet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"capcli"
)

// Kind is the type of the values of a column of a Table.
type Kind uint8

// The kinds of columns.
const (
	Text    Kind = iota // UTF-8
	Int32               // 32-bit integer
	Int64               // 64-bit integer
	Float32             // for ratios, at half the bytes
	Float64             // never NaN or infinite
	Instant             // microseconds since 1970-01-01 UTC
)

// Column is one column of a Table.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool
	Repeats  bool // values often repeat: they are kept in a dictionary
	Packing  Packing
}

// Packing is the encoding of values that are not in a dictionary. Which one is smallest depends
// on the values.
type Packing uint8

// The packings.
const (
	Plain  Packing = iota
	Deltas         // integers: the difference from the previous value
	Split          // the first bytes of all values, then all second bytes, and so on
)

const (
	rowGroupRows = 128 << 10
	batchRows    = 1024
	pageBytes    = 256 << 10
	dictBytes    = 1 << 20 // a column with a larger dictionary goes on with plain values
)

// Table writes a Parquet file row by row, or by row groups with Group. For each row call one of
// Text, Int, Float, Time and Null for each column, then Next. Next and Close return the first
// error.
type Table struct {
	columns []Column
	pending []Vector // rows not yet handed to parquet-go
	rows    int      // complete rows in pending
	group   int      // rows of the open row group that parquet-go has
	pw      *pq.GenericWriter[any]
	seal    *sealer
	err     error
	// Buffers of column and Group for one batch of one column.
	room       []pq.Value
	letters    []byte
	plainOrder []int32
}

// NewTable starts a file on w. meta is added to its metadata; keys that begin with "capcli." are
// reserved and fail. Nothing is read back from w. The file is complete only after Close.
func NewTable(w io.Writer, columns []Column, meta map[string]string) (*Table, error) {
	t := &Table{columns: columns, seal: &sealer{w: w, sum: sha256.New()}}
	options := []pq.WriterOption{
		pq.CreatedBy("capcli", "1", "table/v1"),
		pq.Compression(packer{}),
		pq.PageBufferSize(pageBytes),
		pq.DictionaryMaxBytes(dictBytes),
		pq.KeyValueMetadata(sealKey, unsealed),
	}
	for k, v := range meta { // parquet-go sorts them
		if strings.HasPrefix(k, "capcli.") || strings.Contains(v, sealKey) {
			return nil, fmt.Errorf("writing parquet: metadata %q uses a name that is capcli's own", k)
		}
		options = append(options, pq.KeyValueMetadata(k, v))
	}
	root, err := rootOf(columns)
	if err != nil {
		return nil, err
	}
	options = append(options, pq.NewSchema("capcli", root))
	t.pw = pq.NewGenericWriter[any](t.seal, options...)
	for _, c := range columns {
		t.pending = append(t.pending, NewVector(c.Kind, 0))
	}
	return t, nil
}

// Text sets the cell of a Text column.
func (t *Table) Text(col int, s string) { t.pending[col].AddText(s) }

// Int sets the cell of an Int32 or Int64 column.
func (t *Table) Int(col int, v int64) { t.pending[col].AddInt(v) }

// Float sets the cell of a Float32 or Float64 column.
func (t *Table) Float(col int, v float64) { t.pending[col].AddFloat(v) }

// Null sets the cell to null, for unknown.
func (t *Table) Null(col int) { t.pending[col].AddNull() }

// Time sets the cell of an Instant column; NoTime is null.
func (t *Table) Time(col int, at capcli.Time) {
	const limit = math.MaxInt64 / 1_000_000
	switch {
	case !at.IsKnown():
		t.Null(col)
	case at > limit || at < -limit:
		t.fail(col, fmt.Errorf("instant %d is outside what microseconds can say", int64(at)))
		t.Int(col, 0)
	default:
		t.Int(col, int64(at)*1_000_000)
	}
}

// fail keeps err as the error of the table, with the name of column col, unless there is one
// already.
func (t *Table) fail(col int, err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
	}
}

// Next ends a row. It fails where a cell of the row cannot be written.
func (t *Table) Next() error {
	for col := range t.pending {
		if c, v := &t.columns[col], &t.pending[col]; t.err == nil && v.Len() == t.rows+1 {
			t.fail(col, c.check(v, int32(t.rows)))
		}
	}
	t.rows++
	if t.err == nil && t.rows == batchRows {
		t.err = t.flush()
	}
	return t.err
}

// flush hands the pending rows to parquet-go, and writes the row group when it is full.
func (t *Table) flush() error {
	for col := range t.pending {
		v := &t.pending[col]
		if v.Len() != t.rows {
			return fmt.Errorf("writing parquet: column %q: %d cells in %d rows", t.columns[col].Name, v.Len(), t.rows)
		}
		if err := t.column(col, v, nil); err != nil {
			return err
		}
		v.Resize(0)
	}
	t.group += t.rows
	t.rows = 0
	if t.group >= rowGroupRows {
		return t.endGroup()
	}
	return nil
}

func (t *Table) endGroup() error {
	t.group = 0
	if err := t.pw.Flush(); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	return nil
}

// Close writes the remaining rows and the sealed footer. It does not close w.
func (t *Table) Close() error {
	if t.err != nil {
		return t.err
	}
	t.err = errors.New("writing parquet: the file is closed")
	if t.rows > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if t.group > 0 {
		if err := t.endGroup(); err != nil {
			return err
		}
	}
	t.seal.holding = true
	if err := t.pw.Close(); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	if err := t.seal.finish(); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	return nil
}

// root is a group whose fields keep their order; pq.Group sorts them by name.
type root struct {
	pq.Group
	fields []pq.Field
}

// Fields implements pq.Node.
func (r *root) Fields() []pq.Field { return r.fields }

func rootOf(columns []Column) (*root, error) {
	r := &root{Group: pq.Group{}}
	if len(columns) == 0 || len(columns) > maxColumns {
		return nil, fmt.Errorf("writing parquet: %d columns, expected 1 to %d", len(columns), maxColumns)
	}
	for _, c := range columns {
		if _, twice := r.Group[c.Name]; twice || c.Name == "" {
			return nil, fmt.Errorf("writing parquet: column name %q is empty or comes twice", c.Name)
		}
		n := nodeOf(c)
		r.Group[c.Name] = n
	}
	sorted := map[string]pq.Field{}
	for _, f := range r.Group.Fields() {
		sorted[f.Name()] = f
	}
	for _, c := range columns {
		r.fields = append(r.fields, sorted[c.Name])
	}
	return r, nil
}

func nodeOf(c Column) pq.Node {
	var n pq.Node
	switch c.Kind {
	case Text:
		n = pq.Encoded(pq.String(), &pq.Plain) // the default of parquet-go is delta
	case Int32:
		n = pq.Int(32)
	case Int64:
		n = pq.Int(64)
	case Float32:
		n = pq.Leaf(pq.FloatType)
	case Float64:
		n = pq.Leaf(pq.DoubleType)
	case Instant:
		n = pq.Timestamp(pq.Microsecond)
	}
	switch {
	case c.Repeats:
		n = pq.Encoded(n, &pq.RLEDictionary)
	case c.Packing == Deltas:
		n = pq.Encoded(n, &pq.DeltaBinaryPacked)
	case c.Packing == Split:
		n = pq.Encoded(n, &pq.ByteStreamSplit)
	}
	if c.Nullable {
		n = pq.Optional(n)
	}
	return n
}
