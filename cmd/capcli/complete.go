package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/scenarios/prices"
	"capcli/simulate/outcome"
)

// complete registers the values of a flag for shell completion. A value may carry a description
// after a tab.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	completeWith(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeList registers the values of a flag that takes a comma-separated list. Values already
// typed are kept and not offered again.
func completeList(cmd *cobra.Command, flag string, values func() []string) {
	completeWith(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return afterComma(typed, values()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// completeSign registers the completion of a flag that takes METRIC, a sign and a value: it offers
// the metrics.
func completeSign(cmd *cobra.Command, flag, sign string) {
	completeWith(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, m := range outcome.Metrics {
			out = append(out, m.Name+sign+"\t"+m.Doc)
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

func completeWith(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag does not exist: a bug
	}
}

// afterComma returns the values not yet in typed, each prefixed with the list typed so far.
func afterComma(typed string, values []string) []string {
	at := strings.LastIndexByte(typed, ',') + 1
	taken := strings.Split(typed[:at], ",")
	var out []string
	for _, v := range values {
		name, about, has := strings.Cut(v, "\t")
		if slices.Contains(taken, name) {
			continue
		}
		if v = typed[:at] + name; has {
			v += "\t" + about
		}
		out = append(out, v)
	}
	return out
}

// entries lists the names and descriptions of a catalogue for complete.
func entries[T any](c *capcli.Catalog[T]) []string {
	var out []string
	for _, e := range c.All() {
		out = append(out, e.Name+"\t"+e.Doc)
	}
	return out
}

// zones are common time zones for completion; flags take any other Area/City too.
var zones = strings.Fields(`UTC
	Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi
	America/Bogota America/Chicago America/Denver America/Los_Angeles America/Mexico_City America/New_York
	America/Phoenix America/Santiago America/Sao_Paulo America/Toronto America/Vancouver
	Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem Asia/Kolkata Asia/Manila Asia/Seoul Asia/Shanghai
	Asia/Singapore Asia/Taipei Asia/Tokyo
	Australia/Melbourne Australia/Perth Australia/Sydney
	Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Brussels Europe/Dublin Europe/Helsinki Europe/Istanbul
	Europe/Lisbon Europe/London Europe/Madrid Europe/Oslo Europe/Paris Europe/Prague Europe/Rome Europe/Stockholm
	Europe/Vienna Europe/Warsaw Europe/Zurich
	Pacific/Auckland Pacific/Honolulu`)

// priceKeys lists the keys of the price catalogue with the given terms; "" selects all.
func priceKeys(terms string) []string {
	var out []string
	for _, c := range prices.Catalogue().Choices(terms) {
		out = append(out, c.Key+"\t"+c.About)
	}
	return out
}

// termKeys lists the purchase terms of the price catalogue as LENGTH=KEY.
func termKeys() []string {
	var out []string
	for _, c := range prices.Catalogue().Choices("") {
		if length := c.Length(); length != "" {
			out = append(out, length+"="+c.Key+"\t"+c.About)
		}
	}
	return out
}

// priceParts lists the distinct values of one part of the prices in the catalogue.
func priceParts(of func(*prices.Quote) string) []string {
	var out []string
	for _, q := range prices.Catalogue().Quotes() {
		out = append(out, of(&q))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A sample is a call of a command that needs no files. Completion runs it to learn the tables and
// columns of the command's result.
type sample struct {
	args  string
	stdin string
}

const (
	sampleJobs  = "job_id,submit,start,end,gpus,run_s,tenant\na,1767225600,1767225660,1767229260,1,3600,lab\nb,1767229200,1767229200,1767232800,2,3600,lab\n"
	sampleCurve = "month,value\n2027-01,4\n2027-02,6\n2027-03,5\n"
)

// samples holds the sample calls by command path.
var samples = map[string]sample{
	"capcli simulate":        {args: "simulate"},
	"capcli explain":         {args: "explain default wait_p95 --causes-only"},
	"capcli plan":            {args: "plan mix default --vary capacity.base.gpus=40 --runs 1"},
	"capcli plan mix":        {args: "plan mix default --vary capacity.base.gpus=40 --runs 1"},
	"capcli plan curve":      {args: "plan curve - --on-demand 1 --term 2mo=0.5", stdin: sampleCurve},
	"capcli trace describe":  {args: "trace describe -", stdin: sampleJobs},
	"capcli eta":             {args: "eta - --score", stdin: sampleJobs},
	"capcli import":          {args: "import csv - --out - -o json", stdin: sampleJobs},
	"capcli scenarios list":  {args: "scenarios list"},
	"capcli schema":          {args: "schema"},
	"capcli prices list":     {args: "prices list --gpu T4"},
	"capcli prices show":     {args: "prices show gcp/us-central1/a2-highgpu-1g"},
	"capcli forecast models": {args: "forecast models"},
	"capcli doctor":          {args: "doctor"},
}

// sampleTables returns the tables of the result of a command, from its sample call; nil where the
// command has no sample.
func sampleTables(e *env, command string) []report.Table {
	s, ok := samples[command]
	if !ok {
		return nil
	}
	var tables []report.Table
	aside := &env{
		stdin: strings.NewReader(s.stdin), stdout: io.Discard, stderr: io.Discard,
		disk: e.disk, temps: &files.Temps{}, getenv: func(string) string { return "" }, now: e.now, quiet: true, progress: "none",
		emitted: func(d report.Doc) { tables = d.Tables },
	}
	root := newRoot(aside)
	root.SetArgs(append(strings.Fields(s.args), "--quiet"))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	_ = root.ExecuteContext(context.Background()) // a failed sample offers nothing
	return tables
}

// completeResults registers the completion of tables, columns and time zones for cmd and every
// command under it.
func completeResults(e *env, cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		completeResults(e, c)
	}
	if cmd.Flags().Lookup("columns") != nil {
		completeTables(e, cmd)
	}
	if f := cmd.Flags().Lookup("tz"); f != nil && !f.Hidden {
		complete(cmd, "tz", func() []string { return zones })
	}
}

// completeTables offers the tables of cmd's result for --table, and the columns of the selected
// table for --columns.
func completeTables(e *env, cmd *cobra.Command) {
	completeWith(cmd, "table", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, t := range sampleTables(e, cmd.CommandPath()) {
			out = append(out, t.Name+"\t"+t.Title)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
	completeWith(cmd, "columns", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		tables := sampleTables(e, cmd.CommandPath())
		chosen := 0
		if name := cmd.Flags().Lookup("table").Value.String(); name != "" {
			chosen = slices.IndexFunc(tables, func(t report.Table) bool { return t.Name == name })
		}
		var out []string
		if chosen >= 0 && chosen < len(tables) {
			for _, c := range tables[chosen].Columns {
				out = append(out, c.Name+"\t"+c.Head)
			}
		}
		return afterComma(typed, out), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}
