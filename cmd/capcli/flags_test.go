package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli/cmd/bundle"
	"capcli/cmd/capcli/plan"
	"capcli/cmd/shell"
)

// mostFlags is how many flags a command may show.
const mostFlags = 24

// eachCommand calls visit for cmd and all under it.
func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		eachCommand(c, visit)
	}
}

// TestFlagsAreFew holds that a command shows so few flags that a reader can go through
// them, and that each hidden flag names a spelling that is there.
func TestFlagsAreFew(t *testing.T) {
	eachCommand(newRoot(&shell.Env{}), func(cmd *cobra.Command) {
		var shown []string
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && cmd.InheritedFlags().Lookup(f.Name) == nil {
				shown = append(shown, f.Name)
			}
			if !f.Hidden {
				return
			}
			spelling := f.Annotations[bundle.RenamedTo]
			if len(spelling) != 1 {
				t.Errorf("%s: --%s is hidden and names no other spelling", cmd.CommandPath(), f.Name)
				return
			}
			name, value, _ := strings.Cut(strings.TrimPrefix(spelling[0], "--"), " ")
			to := cmd.Flags().Lookup(name)
			if to == nil || to.Hidden {
				t.Errorf("%s: --%s is now %s, which it has not", cmd.CommandPath(), f.Name, spelling[0])
				return
			}
			if b, ok := to.Value.(*bundle.Bundle); ok && value != "OURS=THEIRS" {
				if _, _, ok := b.Find(strings.TrimSuffix(value, "…")); !ok {
					t.Errorf("%s: --%s is now %s, but that is no key of it", cmd.CommandPath(), f.Name, spelling[0])
				}
			}
		})
		if len(shown) > mostFlags {
			t.Errorf("%s shows %d flags: %s", cmd.CommandPath(), len(shown), strings.Join(shown, " "))
		}
		t.Logf("%2d %s: %s", len(shown), cmd.CommandPath(), strings.Join(shown, " "))
	})
}

// TestBundle holds how a list of pairs is cut.
func TestBundle(t *testing.T) {
	for _, tt := range []struct{ args, want, fault string }{
		{args: "--read tz=UTC,allow-cut", want: "allow-cut=true tz=UTC"},
		{args: "--read columns=JobID,Submit,State,dst=later", want: "columns-in=JobID,Submit,State dst=later"},
		{args: "--read submit=created,gpus=n --read tz=UTC", want: "map=[submit=created,gpus=n] tz=UTC"},
		{args: "--prom http://host:9090 --prom query=sum(rate(a{b=\"c\"}[5m]),d)", want: "prom=http://host:9090 query=sum(rate(a{b=\"c\"}[5m]),d)"},
		{args: "--capacity column=room --pending queue.csv,column=waits", want: "capacity-col=room pending=queue.csv pending-col=waits"},
		{args: "--fit season=24,168,allow-negative", want: "allow-negative=true season=[24,168]"},
		{args: "--sums total,sep=/", want: "id-sep=/ total=true"},
		{args: "--read zone=UTC", fault: `unknown key "zone"`},
		{args: "--read tz", fault: "tz=VALUE"},
		{args: "--fit season=x", fault: "--fit season wants whole numbers with commas between them, found \"x\""},
	} {
		cmd, _, err := newRoot(&shell.Env{}).Find([]string{"forecast"})
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.ParseFlags(strings.Fields(tt.args))
		if err != nil {
			if text := shell.FlagError(cmd, err).Error(); tt.fault == "" || !strings.Contains(text, tt.fault) {
				t.Errorf("%s: %s", tt.args, text)
			}
			continue
		}
		var got []string
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if _, ok := f.Value.(*bundle.Bundle); ok && f.Value.String() == "" || f.Name == "capacity" {
				return
			}
			got = append(got, f.Name+"="+f.Value.String())
		})
		if text := strings.Join(got, " "); text != tt.want || tt.fault != "" {
			t.Errorf("%s: got %s, want %s%s", tt.args, text, tt.want, tt.fault)
		}
	}
}

// TestChoosePlan holds which command a plan is.
func TestChoosePlan(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"plan", "plan mix"},
		{"plan --help", "plan --help"},
		{"plan plan.yaml --runs 3", "plan mix plan.yaml --runs 3"},
		{"plan --demand d.csv --on-demand 1", "plan curve --demand d.csv --on-demand 1"},
		{"-q plan --futures f.parquet", "plan futures -q --futures f.parquet"},
		{"plan --demand d.csv --futures error=10%", "plan futures --demand d.csv --futures error=10%"},
		{"plan --futures f.parquet plan.yaml", "plan mix --futures f.parquet plan.yaml"},
		{"plan --futures f --trace jobs.csv", "plan mix --futures f --trace jobs.csv"},
		{"plan merge dir", "plan merge dir"},
		{"simulate plan", "simulate plan"},
		{"__complete plan --se", "__complete plan mix --se"},
		{"__complete plan --demand d.csv --qu", "__complete plan curve --demand d.csv --qu"},
		{"__complete plan de", "__complete plan de"},
	} {
		if got := strings.Join(plan.ChoosePlan(newRoot(&shell.Env{}), strings.Fields(tt.args)), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}
