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
	"capcli/cmd/shell"
)

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
func sampleTables(e *shell.Env, command string) []report.Table {
	s, ok := samples[command]
	if !ok {
		return nil
	}
	var tables []report.Table
	aside := &shell.Env{
		Stdin: strings.NewReader(s.stdin), Stdout: io.Discard, Stderr: io.Discard,
		Disk: e.Disk, Temps: &files.Temps{}, Getenv: func(string) string { return "" }, Now: e.Now, Quiet: true, Progress: "none",
		Emitted: func(d report.Doc) { tables = d.Tables },
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
func completeResults(e *shell.Env, cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		completeResults(e, c)
	}
	if cmd.Flags().Lookup("columns") != nil {
		completeTables(e, cmd)
	}
	if f := cmd.Flags().Lookup("tz"); f != nil && !f.Hidden {
		shell.Complete(cmd, "tz", func() []string { return shell.Zones })
	}
}

// completeTables offers the tables of cmd's result for --table, and the columns of the selected
// table for --columns.
func completeTables(e *shell.Env, cmd *cobra.Command) {
	shell.CompleteWith(cmd, "table", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return capcli.Map(sampleTables(e, cmd.CommandPath()), func(t report.Table) string { return t.Name + "\t" + t.Title }), cobra.ShellCompDirectiveNoFileComp
	})
	shell.CompleteWith(cmd, "columns", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
		return shell.AfterComma(typed, out), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}
