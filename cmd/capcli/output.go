package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"

	"capcli/cmd/bundle"
)

// outputOptions are the flags that say in which form and where a result is written.
type outputOptions struct {
	form    string
	out     string
	table   string
	columns []string
	wide    bool
	excel   bool // --excel, the old spelling of -o excel
	focus   bool // whether -o focus is allowed
}

// focusForm is the form of commands that write a bill in FOCUS.
const focusForm = "focus"

// allowFocus adds -o focus to the forms of cmd.
func (o *outputOptions) allowFocus(cmd *cobra.Command) {
	o.focus = true
	cmd.Flags().Lookup("output").Usage += ", " + focusForm
}

// addOutputFlags gives cmd -o, --out and the flags about tables.
func addOutputFlags(cmd *cobra.Command, o *outputOptions) {
	addFormFlags(cmd, o)
	cmd.Flags().StringVar(&o.out, "out", "", "write the result to this `FILE` instead of stdout (-)")
}

// addFormFlags is addOutputFlags without --out, for commands that use that name for something else.
func addFormFlags(cmd *cobra.Command, o *outputOptions) {
	addFormFlag(cmd, o)
	f := cmd.Flags()
	f.StringVar(&o.table, "table", "", "only this table of the result, by `NAME`")
	f.StringSliceVar(&o.columns, "columns", nil, "only these columns of the table, in this order: `a,b,c`; all, however narrow the terminal")
	f.BoolVar(&o.wide, "wide", false, "all columns, however narrow the terminal")
	f.BoolVar(&o.excel, "excel", false, "csv that Excel opens as UTF-8")
	bundle.Rename(cmd, "wide", "--columns all")
	bundle.Rename(cmd, "excel", "--output excel")
	explainedBy(cmd, "capcli trace describe", "table", "columns")
}

// addFormFlag adds only -o.
func addFormFlag(cmd *cobra.Command, o *outputOptions) {
	cmd.Flags().StringVarP(&o.form, "output", "o", "", "`FORM`: "+strings.Join(report.Forms.Names(), ", "))
	complete(cmd, "output", func() []string { return entries(&report.Forms) })
}

// unknownForm adds focus to the forms that err lists, where it is allowed.
func (o *outputOptions) unknownForm(err error) error {
	if !o.focus {
		return err
	}
	return &usageError{text: err.Error() + ", " + focusForm}
}

// allColumns is the value of --columns that shows every column, also on a narrow terminal.
const allColumns = "all"

// settle resolves --columns all and --excel.
func (o *outputOptions) settle() {
	if len(o.columns) == 1 && o.columns[0] == allColumns {
		o.columns, o.wide = nil, true
	}
	if o.excel && o.form == "csv" {
		o.form = "excel"
	}
}

// check refuses wrong output flags before any work is done.
func (o *outputOptions) check() error {
	o.settle()
	if o.form != "" && (o.form != focusForm || !o.focus) {
		if _, err := report.Forms.Get(o.form); err != nil {
			return o.unknownForm(err)
		}
	}
	if o.form == focusForm && (len(o.columns) > 0 || o.table != "") {
		return &usageError{text: "-o focus always has all columns of FOCUS; it cannot be combined with --table or --columns"}
	}
	if o.form == "json" && (len(o.columns) > 0 || o.table != "") {
		return &usageError{
			text: "-o json always has all tables and columns; it cannot be combined with --table or --columns",
			hint: "use -o jsonl or -o csv, or choose with jq",
		}
	}
	return nil
}

// shape returns the form of the output: -o, else the ending of --out, else table for a terminal and
// tsv for a pipe.
func (o *outputOptions) shape(e *env) string {
	if o.form != "" {
		return o.form
	}
	if o.out != "" && o.out != "-" {
		ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
		if _, err := report.Forms.Get(ending); err == nil {
			if ending == "csv" && o.excel {
				return "excel"
			}
			return ending
		}
		return "table"
	}
	if e.screen.stdout {
		return "table"
	}
	return "tsv"
}

// emit writes d as o asks. On an error it leaves no partial file.
func emit(e *env, o outputOptions, d report.Doc) error {
	if err := o.check(); err != nil {
		return err
	}
	if e.emitted != nil {
		e.emitted(d)
		return nil
	}
	name := o.shape(e)
	form, err := report.Forms.Get(name)
	if err != nil {
		return err
	}
	path := o.out
	if path == "" {
		path = "-"
	}
	out, err := e.create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	d.Notes = slices.Clone(d.Notes) // the result has them too
	for i, n := range d.Notes {
		d.Notes[i] = bundle.NewSpelling(e.cmd, n)
	}
	how := report.Options{Table: o.table, Columns: o.columns}
	if path == "-" {
		if how.Color = name == "table" && e.color(); how.Color {
			out.Raw() // the colors are ours, and cells have no control characters
		}
		if e.screen.stdout && !o.wide {
			how.Width = e.width()
		}
	}
	if err := form(out, d, how); err != nil {
		return out.Failed(err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	o.leftOut(e, name, &d)
	return nil
}

// leftOut notes on stderr what a form that holds one table leaves out.
func (o *outputOptions) leftOut(e *env, name string, d *report.Doc) {
	_, lines := d.Data.(report.Liner)
	switch {
	case name != "csv" && name != "excel" && name != "tsv" && (name != "jsonl" || lines):
		return
	case o.table == "" && len(d.Tables) > 1:
		var rest []string
		for _, t := range d.Tables[1:] {
			rest = append(rest, t.Name)
		}
		e.note(fmt.Sprintf("%s holds the table %s; there is also %s (--table NAME)", name, d.Tables[0].Name, strings.Join(rest, ", ")))
	}
	for _, n := range d.Notes {
		e.note(n)
	}
}

// note writes a note to stderr, unless --quiet is set.
func (e *env) note(text string) {
	if !e.quiet {
		_, _ = fmt.Fprintf(e.stderr, "note: %s\n", printable(bundle.NewSpelling(e.cmd, text)))
	}
}

// color reports whether stdout may have colors. NO_COLOR wins over CLICOLOR_FORCE, which wins over
// the kind of stdout.
func (e *env) color() bool {
	if e.noColor || e.getenv("NO_COLOR") != "" {
		return false
	}
	if force := e.getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return e.screen.stdout && e.getenv("TERM") != "dumb"
}

// width is the width of the terminal in columns; 80 where it is unknown.
func (e *env) width() int {
	if e.screen.width > 0 {
		return e.screen.width
	}
	if n, err := strconv.Atoi(e.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}
