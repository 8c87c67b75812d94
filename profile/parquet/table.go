package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"capcli"
)

// Kind is what a column of a Table holds.
type Kind uint8

// The kinds of columns.
const (
	Text    Kind = iota // UTF-8
	Int32               // 32-bit integer
	Int64               // 64-bit integer
	Float32             // ratios: half the bytes
	Float64             // never NaN or infinite
	Instant             // microseconds since 1970-01-01 UTC
)

// Column is one column of a Table.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool
	Repeats  bool // values that come many times, kept in a dictionary
	Packing  Packing
}

// Packing is how values that are not in a dictionary are laid out. Every reader
// of Parquet knows them; which is smaller is a matter of the values.
type Packing uint8

// The packings.
const (
	Plain  Packing = iota
	Deltas         // of integers: from one value to the next
	Split          // first all first bytes of the values, then all second ones, and so on
)

const (
	rowGroupRows = 128 << 10
	batchRows    = 1024
	pageBytes    = 256 << 10
	dictBytes    = 1 << 20 // a dictionary over this gives way to plain values
)

// Table writes a Parquet file row by row. For each row call one of Text, Int,
// Float, Time and Null for each column, then Next. The first error sticks and
// is given by Next and Close.
type Table struct {
	columns []Column
	pending []Vector // rows that are not yet written
	rows    int      // whole rows in pending
	group   int      // rows in the row group
	pw      *pq.GenericWriter[any]
	seal    *sealer
	err     error
	// Of Group: one batch of one column.
	room       []pq.Value
	letters    []byte
	plainOrder []int32
}

// NewTable begins a file on w. meta goes into its metadata; keys that begin
// with "capcli." are ours. Nothing is read back from w, and the file is whole
// only after Close.
func NewTable(w io.Writer, columns []Column, meta map[string]string) (*Table, error) {
	t := &Table{columns: columns, seal: newSealer(w)}
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

// Null says that the cell is unknown.
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

// fail keeps the first error, which is about a column.
func (t *Table) fail(col int, err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("writing parquet: column %q: %w", t.columns[col].Name, err)
	}
}

// Next ends a row.
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

// flush hands the rows to parquet-go, and a full row group to the file.
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

// Close writes what is left and the sealed footer. It does not close w.
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
		n = pq.Encoded(pq.String(), &pq.Plain) // the library's choice would be delta
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
