// Package report says a result. A command fills a Doc, which knows nothing of
// how it will look; a form (table, csv, json …) writes it. So M commands and N
// forms are M+N functions.
//
// A cell keeps its type until a form writes it: the table rounds for people
// ($1,695,168; 22 min; 93.1%), the CSV and the JSON do not round at all.
package report

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"capcli"
)

// Doc is a result on its way out.
type Doc struct {
	Title  string
	Lead   string // the answer in one sentence, computed from the same data
	Tables []Table
	Charts []Chart  // drawn by table and md only
	Notes  []string // what the reader must know beside the figures
	Data   any      // the JSON: a struct with json tags and a schema field
}

// Table is one table of a Doc. Each row has one cell for each column.
type Table struct {
	Name    string // for --table: "tenants"
	Title   string
	Columns []Column
	Rows    [][]any
	// Each gives the rows of a table that is too long to be held, where Rows has
	// none: csv and tsv write them as they come. No cell of theirs is a Range.
	Each  iter.Seq[[]any]
	Most  int  // rows that table and md show unless it is asked for by name; 0 is all
	Aside bool // table and md leave it out unless it is asked for by name
}

// Column describes one column of a Table.
type Column struct {
	Name     string // for programs, with its unit: "cost_usd"
	Head     string // for people: "cost"; Name where it is empty
	Align    Align
	Priority int  // 0 is always shown; on a narrow terminal the largest goes first
	Picture  bool // a bar or the like: only for people, left out of csv, tsv and JSON
}

// Align says to which side a column keeps.
type Align uint8

// Auto puts text to the left and numbers to the right.
const (
	Auto Align = iota
	Left
	Right
)

// Options say how a form writes.
type Options struct {
	Width   int      // columns of the terminal; 0 is no limit
	Color   bool     // verdicts and changes may be colored
	Table   string   // the table that one-table forms write; "" is the first
	Columns []string // names of the columns wanted, in order; nil is all
}

// Form writes a Doc in one shape. It writes nothing at all when it gives an
// error for what is in the Doc.
type Form func(w io.Writer, d Doc, o Options) error

// Forms is what -o chooses from.
var Forms = capcli.Catalog[Form]{Kind: "output form"}

// One returns the table that forms of one table write, with the columns wanted.
func (d *Doc) One(o Options) (Table, error) {
	t, err := d.named(o.Table)
	if err != nil {
		return Table{}, err
	}
	if len(o.Columns) == 0 {
		return t, nil
	}
	return t.pick(o.Columns)
}

func (d *Doc) named(name string) (Table, error) {
	if len(d.Tables) == 0 {
		return Table{}, &capcli.UnknownError{Text: "this result has no table; use -o json"}
	}
	if name == "" {
		return d.Tables[0], nil
	}
	names := make([]string, len(d.Tables))
	for i, t := range d.Tables {
		if t.Name == name {
			return t, nil
		}
		names[i] = t.Name
	}
	return Table{}, unknownName("table", name, names)
}

// chosen returns the tables that a form of many tables writes.
func (d *Doc) chosen(o Options) ([]Table, error) {
	if o.Table != "" || len(o.Columns) > 0 {
		t, err := d.One(o)
		return []Table{t}, err
	}
	var out []Table
	for _, t := range d.Tables {
		if err := t.check(); err != nil {
			return nil, err
		}
		if !t.Aside {
			out = append(out, t)
		}
	}
	return out, nil
}

// truncate returns t with no more rows than its Most, and how many it leaves out.
func (t *Table) truncate(o Options) (Table, int) {
	if t.Most == 0 || len(t.Rows) <= t.Most || o.Table != "" {
		return *t, 0
	}
	out := *t
	out.Rows = t.Rows[:t.Most]
	return out, len(t.Rows) - t.Most
}

// leftOutText says that n rows of t are left out.
func (t *Table) leftOutText(n int) string {
	if n == 1 {
		return "1 more row: --table " + t.Name
	}
	return fmt.Sprintf("%d more rows: --table %s", n, t.Name)
}

// pick returns t with only the columns called names, in that order. A column is found by
// its name or by its head.
func (t *Table) pick(names []string) (Table, error) {
	out := Table{Name: t.Name, Title: t.Title, Most: t.Most}
	have := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		have[i] = c.Name
	}
	at := make([]int, len(names))
	for i, name := range names {
		var err error
		if at[i], err = t.column(name, have); err != nil {
			return Table{}, err
		}
		c := t.Columns[at[i]]
		c.Priority = 0 // asked for by name, so never hidden
		out.Columns = append(out.Columns, c)
	}
	for _, row := range t.Rows {
		cut := make([]any, len(at))
		for i, j := range at {
			if j < len(row) {
				cut[i] = row[j]
			}
		}
		out.Rows = append(out.Rows, cut)
	}
	return out, nil
}

// column finds a column by its name, or else by its head: case, blanks and a
// star of prices do not count there.
func (t *Table) column(name string, have []string) (int, error) {
	if i := slices.Index(have, name); i >= 0 {
		return i, nil
	}
	found, of := -1, headKey(name)
	for i, c := range t.Columns {
		if of == "" || headKey(c.Head) != of {
			continue
		}
		if found >= 0 {
			return 0, &capcli.UnknownError{Text: fmt.Sprintf("two columns are headed %q: name %s or %s", name, t.Columns[found].Name, c.Name)}
		}
		found = i
	}
	if found < 0 {
		return 0, unknownName("column", name, have)
	}
	return found, nil
}

// headKey returns a column's head as somebody types it.
func headKey(head string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("%$/<>=", r) {
			return unicode.ToLower(r)
		}
		return -1
	}, head)
}

// figures returns t without its pictures.
func (t *Table) figures() (Table, error) {
	if err := t.check(); err != nil {
		return Table{}, err
	}
	var names []string
	for _, c := range t.Columns {
		if !c.Picture {
			names = append(names, c.Name)
		}
	}
	if len(names) == len(t.Columns) {
		return *t, nil
	}
	return t.pick(names)
}

// check fails where a row of t has more or fewer cells than there are columns.
func (t *Table) check() error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q, row %d: %d cells for %d columns", t.Name, i+1, len(row), len(t.Columns))
		}
	}
	return nil
}

func unknownName(kind, name string, have []string) error {
	c := capcli.Catalog[struct{}]{Kind: kind}
	for _, h := range have {
		if !slices.Contains(c.Names(), h) {
			c.Add(h, "", struct{}{})
		}
	}
	_, err := c.Get(name)
	return err
}
