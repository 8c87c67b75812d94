package roofline

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"capcli"
)

// maxRows is the largest number of rows of a table.
const maxRows = 1 << 20

// sheet is a table of delimited text whose header names its columns.
type sheet struct {
	file   string
	text   *capcli.LineReader
	fields capcli.Fields
	header []string
	rows   int
}

// openSheet reads the header of a table.
func openSheet(file string, r io.Reader) (*sheet, error) {
	s := &sheet{file: file, text: capcli.NewLineReader(r)}
	head, ok := s.text.Next()
	if !ok {
		return nil, s.fault("", "the table is empty; its first line names its columns")
	}
	s.fields.Separator = capcli.FindSeparator(head, ",;\t")
	s.fields.Split(head)
	for _, f := range s.fields.Row {
		s.header = append(s.header, strings.ToLower(strings.TrimSpace(string(f))))
	}
	return s, nil
}

// column returns the place of the first of names that the header has, or an error that lists its columns.
func (s *sheet) column(names ...string) (int, error) {
	if i := capcli.FindColumn(s.header, names...); i >= 0 {
		return i, nil
	}
	return 0, &capcli.InputError{
		File: s.file, Line: 1, Field: names[0], Text: "the header has no such column",
		Hint: "its columns are " + strings.Join(capcli.Abridge(s.header, 20), ", "),
	}
}

// columns returns the places of columns, each by its only name.
func (s *sheet) columns(names ...string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		c, err := s.column(name)
		if err != nil {
			return nil, err
		}
		at[i] = c
	}
	return at, nil
}

func (s *sheet) fault(field, format string, args ...any) error {
	return &capcli.InputError{File: s.file, Line: s.text.Line(), Field: field, Text: fmt.Sprintf(format, args...)}
}

// next moves to the next row. It returns io.EOF after the last.
func (s *sheet) next() error {
	for {
		line, ok := s.text.Next()
		if !ok {
			break
		}
		if len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		if q := s.fields.Split(line); q == capcli.QuoteOpen {
			return s.fault("", "a quote is open at the end of the line")
		}
		if len(s.fields.Row) != len(s.header) {
			return s.fault("", "the row has %d columns, the header %d", len(s.fields.Row), len(s.header))
		}
		if s.rows++; s.rows > maxRows {
			return s.fault("", "more than %d rows", maxRows)
		}
		return nil
	}
	if err := s.text.Err(); err != nil && !errors.Is(err, io.EOF) {
		return &capcli.InputError{File: s.file, Line: s.text.Line() + 1, Text: err.Error(), Err: err}
	}
	if s.rows == 0 {
		return s.fault("", "the table has a header and no rows")
	}
	return io.EOF
}

func (s *sheet) word(i int) string { return strings.TrimSpace(string(s.fields.Row[i])) }

// number returns column i of the row, a number of 0 to 1e15.
func (s *sheet) number(i int) (float64, error) {
	v, err := strconv.ParseFloat(s.word(i), 64)
	if err != nil || v != v || v < 0 || v > 1e15 {
		return 0, s.fault(s.header[i], "wants a number of 0 to 1e15, found %s", capcli.Quoted(s.word(i)))
	}
	return v, nil
}

// positive returns column i of the row, a number above 0.
func (s *sheet) positive(i int) (float64, error) {
	v, err := s.number(i)
	if err == nil && v <= 0 {
		err = s.fault(s.header[i], "wants a number above 0, found %s", capcli.Quoted(s.word(i)))
	}
	return v, err
}

// positives returns columns of the row, each a number above 0.
func (s *sheet) positives(at []int) ([]float64, error) {
	out := make([]float64, len(at))
	for i, c := range at {
		v, err := s.positive(c)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// A Source is a table of operations, and its name in errors.
type Source struct {
	File string
	Text io.Reader
}

// Sources are the four tables of operations. Their columns: gpu, gemm_dtype, m, n, k, latency_us of matrix
// products; gpu, num_heads, num_key_value_heads, kv_cache_dtype, batch_size, isl, latency_us of attention
// over prompts; the same with step in place of isl of attention of one step; gpu, num_gpus, message_size
// (elements of two bytes), backend, latency_us of all-reduces.
type Sources struct{ Products, Prefill, Decode, AllReduce Source }

// ReadTables reads the tables of operations. It returns those of each GPU, by name. backend says which
// all-reduce counts; "" is each.
func ReadTables(src Sources, backend string) (map[string]*Tables, error) {
	all := map[string]*Tables{}
	products := map[[2]string][]product{}
	if err := readProducts(src.Products, products); err != nil {
		return nil, err
	}
	get := func(gpu string) *Tables {
		if all[gpu] == nil {
			all[gpu] = &Tables{GPU: gpu, products: map[string][]*plane{}, prefill: map[Attention][]Point{}, decode: map[Attention][]Point{}, reduce: map[int64][]Point{}}
		}
		return all[gpu]
	}
	for key, list := range products {
		get(key[0]).products[key[1]] = newPlanes(list)
	}
	err := readAttention(src.Prefill, "isl", func(gpu string, a Attention, p Point) {
		t := get(gpu)
		t.prefill[a] = append(t.prefill[a], p)
	})
	if err != nil {
		return nil, err
	}
	err = readAttention(src.Decode, "step", func(gpu string, a Attention, p Point) {
		t := get(gpu)
		t.decode[a] = append(t.decode[a], p)
	})
	if err != nil {
		return nil, err
	}
	err = readAllReduce(src.AllReduce, backend, func(gpu string, gpus int64, p Point) {
		t := get(gpu)
		t.reduce[gpus] = append(t.reduce[gpus], p)
	})
	for _, t := range all {
		t.sort()
	}
	return all, err
}

func (t *Tables) sort() {
	for a, p := range t.prefill {
		t.prefill[a] = sortPoints(p)
	}
	for a, p := range t.decode {
		t.decode[a] = sortPoints(p)
	}
	for n, p := range t.reduce {
		t.reduce[n] = sortPoints(p)
	}
}

func readProducts(src Source, out map[[2]string][]product) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "gemm_dtype", "m", "n", "k", "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		key := [2]string{s.word(at[0]), s.word(at[1])}
		out[key] = append(out[key], product{v[0], v[1], v[2], v[3]})
	}
	return ended(err)
}

func readAttention(src Source, length string, add func(gpu string, a Attention, p Point)) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "kv_cache_dtype", "num_heads", "num_key_value_heads", "batch_size", length, "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		add(s.word(at[0]), Attention{int64(v[0]), int64(v[1]), s.word(at[1])}, Point{v[2], v[3], v[4]})
	}
	return ended(err)
}

func readAllReduce(src Source, backend string, add func(gpu string, gpus int64, p Point)) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "backend", "num_gpus", "message_size", "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		if backend == "" || s.word(at[1]) == backend {
			add(s.word(at[0]), int64(v[0]), Point{1, v[1], v[2]})
		}
	}
	return ended(err)
}

// ended returns nil for the regular end of a table.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
