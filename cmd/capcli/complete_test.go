package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// offered is what the shell is offered after the words of a command line.
func offered(t *testing.T, words ...string) []string {
	t.Helper()
	e, stdout, stderr := shelltest.NewEnv()
	if code := run(context.Background(), e, append([]string{"__complete"}, words...)); code != 0 {
		t.Fatalf("%v: exit %d: %s", words, code, stderr)
	}
	var out []string
	for line := range strings.Lines(stdout.String()) {
		if !strings.HasPrefix(line, ":") {
			name, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			out = append(out, name)
		}
	}
	return out
}

func TestCompletion(t *testing.T) {
	tests := []struct {
		line string // the last word is being typed; . is none yet
		want string // is offered
		not  string // is not
	}{
		{"simulate --policy .", "easy", ""},
		{"simulate --policy fifo,e", "fifo,easy", "fifo,fifo"},
		{"simulate --policy=fifo,easy,", "fifo,easy,conservative", "fifo,easy,fifo"},
		{"simulate --fail-if .", "wait_p95>", ""},
		{"plan --max wait", "wait_p95=", ""},
		{"plan mix --min .", "availability=", ""},
		{"simulate --tz Europe/", "Europe/Berlin", ""},
		{"import csv x --tz .", "Asia/Tokyo", ""},
		{"simulate --table .", "pools", ""},
		{"simulate --columns .", "cost_usd", "pool"},
		{"simulate --table pools --columns pool,", "pool,terms", "pool,pool"},
		{"trace describe --table .", "tenants", ""},
		{"plan --table .", "frontier", ""},
		{"prices list --columns .", "key", ""},
		{"prices list --term .", "1y-none", ""},
		{"prices list --gpu .", "H100", ""},
		{"prices show .", "gcp/us-central1/a3-highgpu-8g/1y", ""},
		{"plan curve --term 1y=gcp", "1y=gcp/us-central1/a3-highgpu-8g/1y", ""},
		{"plan curve --on-demand gcp/us-central1/", "gcp/us-central1/a3-highgpu-8g/on_demand", "gcp/us-central1/a3-highgpu-8g/1y"},
		{"scenarios init --gpu-model .", "V100", ""},
		{"explain default wait_", "wait_p95", ""},
		{"simulate --period .", "trace", ""},
	}
	for _, tt := range tests {
		words := strings.Fields(tt.line)
		if last := len(words) - 1; words[last] == "." {
			words[last] = ""
		}
		got := offered(t, words...)
		if !slices.Contains(got, tt.want) || tt.not != "" && slices.Contains(got, tt.not) {
			t.Errorf("%s: want %q and not %q in %.300v", tt.line, tt.want, tt.not, got)
		}
	}
	for _, name := range shell.Zones {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}

// TestHeadsAreColumns: what any sample's tables print as heads, --columns takes.
func TestHeadsAreColumns(t *testing.T) {
	e, _, _ := shelltest.NewEnv()
	var commands []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.Flags().Lookup("columns") != nil {
			commands = append(commands, cmd.CommandPath())
		}
	}
	walk(newRoot(e))
	for _, command := range commands {
		if _, ok := samples[command]; !ok {
			continue // needs files of its own
		}
		tables := sampleTables(e, command)
		if len(tables) == 0 {
			t.Errorf("the sample of %s has no tables", command)
		}
		for _, table := range tables {
			for _, c := range table.Columns {
				head := c.Head
				if head == "" || strings.TrimSpace(head) == "" {
					continue
				}
				var byHead, byName bytes.Buffer
				form, err := report.Forms.Get("csv")
				if err != nil {
					t.Fatal(err)
				}
				d := report.Doc{Tables: tables}
				if err := form(&byHead, d, report.Options{Table: table.Name, Columns: []string{head}}); err != nil {
					t.Errorf("%s: table %s: --columns %q: %v", command, table.Name, head, err)
					continue
				}
				if err := form(&byName, d, report.Options{Table: table.Name, Columns: []string{c.Name}}); err != nil || byHead.String() != byName.String() {
					t.Errorf("%s: table %s: %q and %q are not one column (%v)", command, table.Name, head, c.Name, err)
				}
			}
		}
	}
}
