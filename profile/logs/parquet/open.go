package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// file is a Parquet file that is within the limits and matches its seal, where it has one.
type file struct {
	at      io.ReaderAt
	size    int64
	dataEnd int64 // offset of the footer
	sealed  bool
	partly  bool // the seal was not checked: each page is, by its own checksum
	meta    *format.FileMetaData
	leaves  int
	columns []leaf // flat columns, in the order of the file
	held    int64  // bytes counted for pages and dictionaries in memory
}

// leaf is one flat column.
type leaf struct {
	name     string
	index    int // index of its chunk in a row group
	optional bool
	kind     pq.Kind
	width    int // bytes of a FIXED_LEN_BYTE_ARRAY
	logical  format.LogicalTypeValue
	unit     int64 // units per second of an instant; 0 for other columns
	scale    int   // decimal places of a decimal
	unsigned bool
}

// open reads the footer of a file and checks everything that can be checked without decoding
// pages. It fails with *capcli.InputError for a damaged or unsupported file.
func open(at io.ReaderAt, size int64) (*file, error) {
	f := &file{at: at, size: size}
	return f, f.open()
}

func (f *file) open() error {
	footer, err := f.footer()
	if err != nil {
		return err
	}
	if err := checkFooter(footer); err != nil {
		return err
	}
	if f.partly {
		_, seal := sealOf(footer)
		f.sealed = seal >= 0
	} else if f.sealed, err = checkSeal(f.at, f.size, f.dataEnd, footer); err != nil {
		return err
	}
	if err := f.decode(); err != nil {
		return err
	}
	if !f.sealed && strings.HasPrefix(f.meta.CreatedBy, madeBy) {
		return damaged("capcli wrote it and its seal is gone")
	}
	return f.check()
}

func (f *file) footer() ([]byte, error) {
	const least = 4 + 4 + 4
	if f.size > maxFile {
		return nil, refused("split it", "file of %d bytes, over the limit of %d", f.size, int64(maxFile))
	}
	if f.size < least {
		return nil, damaged("a parquet file has at least %d bytes, this has %d", least, f.size)
	}
	head, tail := [4]byte{'P', 'A', 'R', '1'}, [8]byte{}
	if !f.partly {
		if err := f.readAt(head[:], 0); err != nil {
			return nil, err
		}
	}
	if err := f.readAt(tail[:], f.size-8); err != nil {
		return nil, err
	}
	switch magic := string(tail[4:]); {
	case magic == "PARE" || string(head[:]) == "PARE":
		return nil, refused("export it without encryption", "the footer is encrypted")
	case string(head[:]) != "PAR1":
		return nil, refused("check the file's kind", "not parquet: begins with %q, expected \"PAR1\"", head[:])
	case magic != "PAR1":
		return nil, damaged("cut short: ends with %q, expected \"PAR1\"", magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case n > maxFooter:
		return nil, refused("write larger row groups", "footer of %d bytes, over the limit of %d", n, maxFooter)
	case n > f.size-least:
		return nil, damaged("footer of %d bytes in a file of %d", n, f.size)
	}
	f.dataEnd = f.size - 8 - n
	b := make([]byte, n)
	return b, f.readAt(b, f.dataEnd)
}

func (f *file) readAt(b []byte, off int64) error {
	if n, err := f.at.ReadAt(b, off); n < len(b) {
		return fmt.Errorf("reading %d bytes at %d: %w", len(b), off, err)
	}
	return nil
}

// decode decodes the footer with parquet-go, which may panic on a malformed one
// (parquet-go/parquet-go#537), always in this goroutine.
func (f *file) decode() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged("footer: %v", p)
		}
	}()
	pf, err := pq.OpenFile(f.at, f.size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true), pq.SkipMagicBytes(true))
	if err != nil {
		return damaged("footer: %v", err)
	}
	f.meta = pf.Metadata()
	f.leaves = len(pf.Schema().Columns())
	for _, c := range pf.Root().Columns() {
		if c.Leaf() && !c.Repeated() {
			f.columns = append(f.columns, leafOf(c))
		}
	}
	return nil
}

func leafOf(c *pq.Column) leaf {
	t := c.Type()
	l := leaf{name: c.Name(), index: c.Index(), optional: c.Optional(), kind: t.Kind()}
	if l.kind == pq.FixedLenByteArray {
		l.width = t.Length()
	}
	if l.kind == pq.Int96 {
		l.unit = 1_000_000_000
	}
	lt := t.LogicalType()
	if lt == nil {
		return l
	}
	l.logical = lt.Value
	switch v := lt.Value.(type) {
	case *format.TimestampType:
		l.unit = unitOf(v.Unit)
	case *format.DecimalType:
		l.scale = int(v.Scale)
	case *format.IntType:
		l.unsigned = !v.IsSigned
	}
	return l
}

func unitOf(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1_000
	case *format.NanoSeconds:
		return 1_000_000_000
	}
	return 1_000_000
}

// check checks the counts of rows and columns against each other and against the limits.
func (f *file) check() error {
	m := f.meta
	switch {
	case m.NumRows < 0:
		return damaged("%d rows", m.NumRows)
	case m.NumRows > maxRows:
		return refused("split it", "%d rows, over the limit of %d", m.NumRows, maxRows)
	case m.NumRows > freeRows && m.NumRows/maxPerByte > f.size:
		return refused("check how it was made", "%d rows in %d bytes: over %d for each byte", m.NumRows, f.size, maxPerByte)
	case f.leaves > maxColumns:
		return refused("write fewer columns", "%d columns, over the limit of %d", f.leaves, maxColumns)
	}
	var rows int64
	for i := range m.RowGroups {
		g := &m.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > m.NumRows-rows {
			return damaged("row group %d has %d rows, the file %d", i, g.NumRows, m.NumRows)
		}
		rows += g.NumRows
		if len(g.Columns) != f.leaves {
			return damaged("row group %d has %d columns, the schema %d", i, len(g.Columns), f.leaves)
		}
	}
	if rows != m.NumRows {
		return damaged("the row groups have %d rows, the file %d", rows, m.NumRows)
	}
	return nil
}

// column returns the flat column called name; false where there is none.
func (f *file) column(name string) (leaf, bool) {
	if i := slices.IndexFunc(f.columns, func(l leaf) bool { return l.name == name }); i >= 0 {
		return f.columns[i], true
	}
	return leaf{}, false
}

// chunk returns a reader of the pages of a column in a row group. It fails where the metadata of
// the chunk cannot be right.
func (f *file) chunk(group int, l *leaf) (*chunk, error) {
	g := &f.meta.RowGroups[group]
	c := &g.Columns[l.index]
	m := &c.MetaData
	from := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	where := fmt.Sprintf("row group %d, column %q", group, l.name)
	switch {
	case c.FilePath != "":
		return nil, refused("merge it into one file", "%s lies in another file, %q", where, c.FilePath)
	case pq.Kind(m.Type) != l.kind:
		return nil, damaged("%s is of type %v, the schema says %v", where, m.Type, l.kind)
	case m.NumValues != g.NumRows:
		return nil, damaged("%s has %d values for %d rows", where, m.NumValues, g.NumRows)
	case from < 4 || m.TotalCompressedSize < 0 || from > f.dataEnd || m.TotalCompressedSize > f.dataEnd-from:
		return nil, damaged("%s lies outside the file", where)
	}
	return &chunk{f: f, where: where, codec: m.Codec, off: from, end: from + m.TotalCompressedSize, left: m.NumValues}, nil
}
