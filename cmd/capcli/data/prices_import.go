package data

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/profile/logs/trace"
	"capcli/scenarios/money/prices"
)

// pricesImportOptions are the flags of capcli prices import.
type pricesImportOptions struct {
	output  shell.OutputOptions
	format  string
	maps    []string
	sets    []string
	perGPU  bool
	out     string
	rejects string
}

func newPricesImport(e *shell.Env) *cobra.Command {
	var o pricesImportOptions
	cmd := &cobra.Command{
		Use:   "import LIST --out PRICES",
		Short: "Read a price list and write it as a price file of your own",
		Long: "LIST is CSV, compressed or not, - for stdin. Columns are recognised by name; --map names the others. A column that\n" +
			"is named after a term (on_demand, spot, 1y, 3y, 1y-none …) holds its prices; monthly prices are divided: /730.\n" +
			"Formats: " + strings.Join(prices.Formats.Names(), ", ") + ". Every price is kept, repeated or rejected, and counted.",
		Example: "  capcli prices import pricing.csv --format gcp --out prices.csv\n" +
			"  capcli prices import quote.csv --map machine=type,1y=monthly/730 --set provider=acme --out prices.yaml\n" +
			"  capcli prices import focus.csv.gz --out paid.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.OneArg(cmd, args, "a price list"); err != nil {
				return err
			}
			return runPricesImport(e, &o, args[0])
		},
	}
	shell.AddFormFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "format of the list, `NAME` (default: detected from its header): "+strings.Join(prices.Formats.Names(), ", "))
	f.StringArrayVar(&o.maps, "map", nil, "column of the list for each of ours: `machine=type,1y=monthly/730` (may be repeated)")
	f.StringArrayVar(&o.sets, "set", nil, "value of one of our columns in all rows: `provider=acme,date=2026-10-01` (may be repeated)")
	f.BoolVar(&o.perGPU, "per-gpu", false, "prices are per GPU, not per machine")
	f.StringVar(&o.out, "out", "", "price file to write, .csv or .yaml, or - for CSV on stdout: `PRICES` (required)")
	f.StringVar(&o.rejects, "rejects", "", "file for rejected prices: `FILE` (default: PRICES with the ending .rejects.csv)")
	shell.Complete(cmd, "format", func() []string { return shell.Entries(&prices.Formats) })
	return cmd
}

// assignments parses OURS=THEIRS pairs separated by commas. It fails on a pair without a side, or a
// name given twice.
func assignments(flag string, texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range strings.Split(strings.Join(texts, ","), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if !ok || k == "" || v == "" {
			return nil, &shell.UsageError{Text: fmt.Sprintf("%s wants ours=theirs, found %q", flag, pair), Hint: "for example " + flag + " provider=acme"}
		}
		if _, twice := out[k]; twice {
			return nil, &shell.UsageError{Text: fmt.Sprintf("%s names %s twice", flag, k)}
		}
		out[k] = v
	}
	return out, nil
}

func runPricesImport(e *shell.Env, o *pricesImportOptions, name string) error {
	kind := strings.ToLower(filepath.Ext(o.out))
	switch {
	case o.out == "":
		return &shell.UsageError{Text: "prices import wants --out PRICES: the file to write", Hint: "for example --out prices.csv"}
	case o.out != "-" && !slices.Contains([]string{".csv", ".yaml", ".yml"}, kind):
		return &shell.UsageError{Text: fmt.Sprintf("--out wants a name that ends in .csv or .yaml, found %q", o.out)}
	case o.rejects == "" && o.out != "-":
		o.rejects = strings.TrimSuffix(o.out, filepath.Ext(o.out)) + ".rejects.csv"
	}
	im := prices.ImportOptions{Format: o.format, PerGPU: o.perGPU}
	var err error
	if im.Map, err = assignments("--map", o.maps); err != nil {
		return err
	}
	if im.Set, err = assignments("--set", o.sets); err != nil {
		return err
	}
	refused := &files.Rejects{To: e.Target(), Path: o.rejects}
	var failed error
	im.Reject = func(line int, reason, text string) {
		failed = cmp.Or(failed, refused.Add(trace.Reject{Line: line, Reason: reason, Text: text}))
	}
	defer func() {
		if refused.Out != nil {
			refused.Out.Abort()
		}
	}()
	prices, rep, err := o.read(e, name, im)
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if err := o.write(e, prices, kind, refused); err != nil {
		return err
	}
	return o.say(e, name, rep, refused)
}

func (o *pricesImportOptions) read(e *shell.Env, name string, im prices.ImportOptions) (*prices.List, prices.ImportReport, error) {
	in, done, err := shell.OpenInput(e, name)
	if err != nil {
		return nil, prices.ImportReport{}, err
	}
	defer func() { _ = done.Close() }()
	text, err := trace.Unpack(in)
	if err != nil {
		return nil, prices.ImportReport{}, err
	}
	return prices.Import(in.Name, text, im)
}

// write writes the price file and the rejected prices, or neither.
func (o *pricesImportOptions) write(e *shell.Env, prices *prices.List, kind string, refused *files.Rejects) error {
	out, err := e.Create(o.out)
	if err != nil {
		return err
	}
	defer out.Abort()
	if kind == ".yaml" || kind == ".yml" {
		err = prices.WriteYAML(out)
	} else {
		err = prices.WriteCSV(out, report.Guard)
	}
	if err != nil {
		return out.Failed(err)
	}
	if err := refused.Settle(); err != nil {
		return err
	}
	if refused.Out != nil {
		if err := refused.Out.Commit(); err != nil {
			return err
		}
	}
	return out.Commit()
}

// say reports what was kept, repeated and rejected.
func (o *pricesImportOptions) say(e *shell.Env, name string, rep prices.ImportReport, refused *files.Rejects) error {
	rep.Input, rep.Output = name, o.out
	t := report.Table{Name: "import", Columns: []report.Column{{Name: "what"}, {Name: "n", Head: "number"}, {Name: "why"}}, Rows: [][]any{
		{"rows read", rep.Rows, "as " + rep.Format},
		{"prices", rep.Prices, strings.Join(rep.Columns, ", ")},
		{"kept", rep.Kept, ""},
		{"repeated", rep.Repeated, "the same price of the same key again"},
	}}
	for _, kept := range []struct {
		what string
		n    int64
		why  string
	}{
		{"rounded", rep.Rounded, "of those kept, to the millionth of a dollar"},
		{"renamed", rep.Renamed, "of those kept, to the GPU model of the machine's latest price"},
		{"doubtful", rep.Doubtful, "of those kept, contracts that cost no less than on demand: is the list right?"},
	} {
		if kept.n > 0 {
			t.Rows = append(t.Rows, []any{kept.what, kept.n, kept.why})
		}
	}
	for _, r := range rep.Reasons {
		what := "rejected"
		if r.Skipped {
			what = "rows skipped"
		}
		t.Rows = append(t.Rows, []any{what, r.N, r.Text})
	}
	d := report.Doc{Tables: []report.Table{t}, Data: rep}
	d.Lead = fmt.Sprintf("%s of %s kept from %s.", capcli.Grouped(rep.Kept), shell.Numbered(rep.Prices, "price"), name)
	if len(rep.Ignored) > 0 {
		d.Notes = append(d.Notes, "columns ignored: "+strings.Join(rep.Ignored, ", "))
	}
	if rep.Rejected > 0 && refused.Path != "" {
		d.Notes = append(d.Notes, "the rejected are in "+refused.Path)
		if full := refused.MissingText(); full != "" {
			d.Notes = append(d.Notes, full)
		}
	}
	if o.out == "-" { // stdout carries the prices
		e.Note(d.Lead)
		for _, r := range rep.Reasons {
			e.Note(fmt.Sprintf("%s: %s", capcli.Grouped(r.N), r.Text))
		}
		for _, n := range d.Notes {
			e.Note(n)
		}
		return nil
	}
	if err := shell.Emit(e, o.output, d); err != nil {
		return err
	}
	e.Say(fmt.Sprintf("wrote %s. next: capcli prices list --prices %s", o.out, o.out))
	return nil
}
