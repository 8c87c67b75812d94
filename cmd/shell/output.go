package shell

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/report"
)

// OutputOptions are the flags that say in which form and where a result is written.
type OutputOptions struct {
	Form    string
	Out     string
	table   string
	Columns []string
	wide    bool // --columns all
	focus   bool // whether -o focus is allowed
}

// FocusForm is the form of commands that write a bill in FOCUS.
const FocusForm = "focus"

// AllowFocus adds -o focus to the forms of cmd.
func (o *OutputOptions) AllowFocus(cmd *cobra.Command) {
	o.focus = true
	cmd.Flags().Lookup("output").Usage += ", " + FocusForm
}

// AddOutputFlags gives cmd -o, --out and the flags about tables.
func AddOutputFlags(cmd *cobra.Command, o *OutputOptions) {
	AddFormFlags(cmd, o)
	cmd.Flags().StringVar(&o.Out, "out", "", "write the result to this `FILE` instead of stdout (-)")
}

// AddFormFlags is addOutputFlags without --out, for commands that use that name for something else.
func AddFormFlags(cmd *cobra.Command, o *OutputOptions) {
	AddFormFlag(cmd, o)
	f := cmd.Flags()
	f.StringVar(&o.table, "table", "", "only this table of the result, by `NAME`")
	f.StringSliceVar(&o.Columns, "columns", nil, "only these columns of the table, in this order: `a,b,c`; all, however narrow the terminal")
	ExplainedBy(cmd, "capcli trace describe", "table", "columns")
}

// AddFormFlag adds only -o. Wrong flags of the output are refused before the command runs.
func AddFormFlag(cmd *cobra.Command, o *OutputOptions) {
	cmd.PreRunE = func(*cobra.Command, []string) error { return o.Check() }
	cmd.Flags().StringVarP(&o.Form, "output", "o", "", "`FORM`: "+strings.Join(report.Forms.Names(), ", "))
	Complete(cmd, "output", func() []string { return Entries(&report.Forms) })
}

// unknownForm adds focus to the forms that err lists, where it is allowed.
func (o *OutputOptions) unknownForm(err error) error {
	if !o.focus {
		return err
	}
	return &UsageError{Text: err.Error() + ", " + FocusForm}
}

// AllColumns is the value of --columns that shows every column, also on a narrow terminal.
const AllColumns = "all"

// Check refuses wrong output flags before any work is done.
func (o *OutputOptions) Check() error {
	if len(o.Columns) == 1 && o.Columns[0] == AllColumns {
		o.Columns, o.wide = nil, true
	}
	if o.Form != "" && (o.Form != FocusForm || !o.focus) {
		if _, err := report.Forms.Get(o.Form); err != nil {
			return o.unknownForm(err)
		}
	}
	if o.Form == FocusForm && (len(o.Columns) > 0 || o.table != "") {
		return &UsageError{Text: "-o focus always has all columns of FOCUS; it cannot be combined with --table or --columns"}
	}
	if o.Form == "json" && (len(o.Columns) > 0 || o.table != "") {
		return &UsageError{
			Text: "-o json always has all tables and columns; it cannot be combined with --table or --columns",
			Hint: "use -o jsonl or -o csv, or choose with jq",
		}
	}
	return nil
}

// Shape returns the form of the output: -o, else the ending of --out, else table for a terminal and
// tsv for a pipe.
func (o *OutputOptions) Shape(e *Env) string {
	if o.Form != "" {
		return o.Form
	}
	if o.Out != "" && o.Out != "-" {
		ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.Out)), ".")
		if _, err := report.Forms.Get(ending); err == nil {
			return ending
		}
		return "table"
	}
	if e.Screen.Stdout {
		return "table"
	}
	return "tsv"
}

// Emit writes d as o asks. On an error it leaves no partial file.
func Emit(e *Env, o OutputOptions, d report.Doc) error {
	if err := o.Check(); err != nil {
		return err
	}
	if e.Emitted != nil {
		e.Emitted(d)
		return nil
	}
	name := o.Shape(e)
	form, err := report.Forms.Get(name)
	if err != nil {
		return err
	}
	path := cmp.Or(o.Out, "-")
	out, err := e.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	d.Notes = slices.Clone(d.Notes) // the result has them too
	for i, n := range d.Notes {
		d.Notes[i] = bundle.NewSpelling(e.Cmd, n)
	}
	how := report.Options{Table: o.table, Columns: o.Columns}
	if path == "-" {
		how.Color = name == "table" && e.Color()
		if how.Color {
			out.Raw() // the colors are ours, and cells have no control characters
		}
		if e.Screen.Stdout && !o.wide {
			how.Width = e.Width()
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

// Answer returns a function that writes the report of an answer as o asks, or passes on its error.
func Answer[R any](e *Env, o OutputOptions, doc func(R) report.Doc) func(R, error) error {
	return func(r R, err error) error {
		if err != nil {
			return err
		}
		return Emit(e, o, doc(r))
	}
}

// leftOut notes on stderr what a form that holds one table leaves out.
func (o *OutputOptions) leftOut(e *Env, name string, d *report.Doc) {
	_, lines := d.Data.(report.Liner)
	switch {
	case name != "csv" && name != "excel" && name != "tsv" && (name != "jsonl" || lines):
		return
	case o.table == "" && len(d.Tables) > 1:
		rest := capcli.Map(d.Tables[1:], func(t report.Table) string { return t.Name })
		e.Note(fmt.Sprintf("%s holds the table %s; there is also %s (--table NAME)", name, d.Tables[0].Name, strings.Join(rest, ", ")))
	}
	for _, n := range d.Notes {
		e.Note(n)
	}
}

// Note writes a note to stderr, unless --quiet is set.
func (e *Env) Note(text string) {
	if !e.Quiet {
		_, _ = fmt.Fprintf(e.Stderr, "note: %s\n", Printable(bundle.NewSpelling(e.Cmd, text)))
	}
}

// Color reports whether stdout may have colors. NO_COLOR wins over CLICOLOR_FORCE, which wins over
// the kind of stdout.
func (e *Env) Color() bool {
	if e.NoColor || e.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := e.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return e.Screen.Stdout && e.Getenv("TERM") != "dumb"
}

// Width is the width of the terminal in columns; 80 where it is unknown.
func (e *Env) Width() int {
	if e.Screen.Width > 0 {
		return e.Screen.Width
	}
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}
