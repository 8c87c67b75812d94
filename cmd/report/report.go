// Package report writes results. A command fills a Doc, which is independent of its output; a
// form (table, csv, json …) writes it. So M commands and N forms need M+N functions.
//
// A cell keeps its type until a form writes it: the table rounds for people ($1,695,168; 22 min;
// 93.1%), CSV and JSON do not round.
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

// Doc is a result to be written by a form.
type Doc struct {
	Title  string
	Lead   string // the answer in one sentence, computed from the same data
	Tables []Table
	Charts []Chart  // drawn by table and md only
	Notes  []string // remarks that the reader needs beside the figures
	Data   any      // the JSON document: a struct with json tags and a schema field
}

// Table is one table of a Doc. Each row has one cell for each column.
type Table struct {
	Name    string // name for --table, such as "tenants"
	Title   string
	Columns []Column
	Rows    [][]any
	// Each yields the rows of a table that is too large for memory; Rows is then empty. csv and
	// tsv write the rows as they come. Their cells must not be a Range.
	Each  iter.Seq[[]any]
	Most  int  // rows that table and md show, unless --table names the table; 0 is all
	Aside bool // table and md show it only where --table names it
}

// Column describes one column of a Table.
type Column struct {
	Name     string // name for programs, with its unit, such as "cost_usd"
	Head     string // name for people, such as "cost"; "" means Name
	Align    Align
	Priority int  // a narrow terminal hides the largest first; 0 is always shown
	Picture  bool // a bar or the like, for people only: csv, tsv and JSON leave it out
}

// Align is the side to which the cells of a column are aligned.
type Align uint8

// Auto aligns text left and numbers right.
const (
	Auto Align = iota
	Left
	Right
)

// Options are the options of a form.
type Options struct {
	Width   int      // columns of the terminal; 0 is no limit
	Color   bool     // verdicts and changes may be colored
	Table   string   // name of the only table to write; "" is the first for forms of one table
	Columns []string // names of the columns to write, in order; nil is all
}

// Form writes a Doc in one format. Where the content of the Doc is an error, it writes nothing; a
// streamed table may be partly written.
type Form func(w io.Writer, d Doc, o Options) error

// Forms are the forms that -o chooses from.
var Forms = capcli.Catalog[Form]{Kind: "output form"}

// One returns the table that forms of one table write, with the columns of o. It fails where the
// table or a column does not exist.
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

// truncate returns t with at most t.Most rows, and the number of rows left out.
func (t *Table) truncate(o Options) (Table, int) {
	if t.Most == 0 || len(t.Rows) <= t.Most || o.Table != "" {
		return *t, 0
	}
	out := *t
	out.Rows = t.Rows[:t.Most]
	return out, len(t.Rows) - t.Most
}

// leftOutText returns the line that says that n rows of t are left out.
func (t *Table) leftOutText(n int) string {
	if n == 1 {
		return "1 more row: --table " + t.Name
	}
	return fmt.Sprintf("%d more rows: --table %s", n, t.Name)
}

// pick returns t with only the columns names, in that order. A name is the Name or the Head of a
// column.
func (t *Table) pick(names []string) (Table, error) {
	out := Table{Name: t.Name, Title: t.Title, Most: t.Most}
	have := capcli.Map(t.Columns, func(c Column) string { return c.Name })
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

// column returns the index of the column with a Name, or else with a Head compared by headKey. It
// fails where there is none, or where two columns have the Head.
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

// headKey returns the letters, digits and %$/<>= of a head in lower case, for comparison with
// what a user typed.
func headKey(head string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("%$/<>=", r) {
			return unicode.ToLower(r)
		}
		return -1
	}, head)
}

// figures returns t without its Picture columns.
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
