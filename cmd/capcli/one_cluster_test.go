package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile"
	"capcli/scenarios/decide"
	"capcli/scenarios/demo"
	"capcli/scenarios/outcome"
)

// oneCluster holds what docs/one-cluster.md says against the documents of its commands, in the folder in which they
// ran: its commands are those that the demo prints, in ten; what follows a next: is the next command; each sentence
// with a number is made again from the JSON, and there is no number in another.
func oneCluster(t *testing.T, d *docRun, text string) {
	t.Helper()
	var typed []string
	for _, m := range regexp.MustCompile(`(?m)^\$ (capcli [^|\n]+)`).FindAllStringSubmatch(text, -1) {
		typed = append(typed, strings.TrimSuffix(strings.TrimSpace(m[1]), " -q"))
	}
	if len(typed) != 10 {
		t.Fatalf("%d commands, want 10: %q", len(typed), typed)
	}
	want := append([]string{"capcli demo"}, demo.Commands("demo")...)
	for i := range want {
		if !strings.HasPrefix(want[i], "#") && want[i] != typed[i] {
			t.Errorf("command %d is %s, the demo prints %s", i+1, typed[i], want[i])
		}
	}
	for i, command := range typed {
		for _, next := range d.next[command] {
			if i+1 == len(typed) || !sameStart(next, typed[i+1]) {
				t.Errorf("%s\nsays next: %s", command, next)
			}
		}
	}
	prose := strings.Join(strings.Fields(regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")), " ")
	for _, s := range clusterSentences(t, d) {
		if !strings.Contains(prose, s) {
			t.Errorf("the page does not say: %s", s)
		}
		prose = strings.ReplaceAll(prose, s, "")
	}
	if m := regexp.MustCompile(`.{0,40}[0-9].{0,40}`).FindString(prose); m != "" {
		t.Errorf("a number that no document gives: %s", m)
	}
}

// commandLine is a command as a page has it, without -q.
func commandLine(args []string) string {
	words := []string{"capcli"}
	for _, a := range args {
		if a != "-q" {
			words = append(words, capcli.ShellWord(a))
		}
	}
	return strings.Join(words, " ")
}

// sameStart reports whether two commands are of one name, and read the same first file where both name files.
func sameStart(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.Equal(x[:min(2, len(x))], y[:min(2, len(y))]) && (x[1] != "simulate" || x[2] == y[2])
}

// clusterSentences are the sentences of the page that have numbers.
func clusterSentences(t *testing.T, d *docRun) []string {
	t.Helper()
	var sum profile.Result
	printed, _ := d.run([]string{"profile", "summary", "demo/recording", "-o", "json", "-q"})
	decode(t, []byte(printed), &sum)
	var fc struct {
		Series []struct {
			Suffices struct{ Median, P95 float64 }
		}
	}
	printed, _ = d.run([]string{"forecast", "demo/jobs.csv", "--step", "1d", "--horizon", "13w", "-o", "json", "-q"})
	decode(t, []byte(printed), &fc)
	var r decide.Result
	decode(t, readAll(t, "demo/decision/decision.json"), &r)
	few, many, past := playedRun(t, "demo/runs/few"), playedRun(t, "demo/runs/many"), playedRun(t, "demo/decision/runs/work-tiers")
	x, k := r.Tiers, r.Tiers.Kinds
	bill, flexible, spot := x.Tier("bill"), x.Tier("flexible"), x.Tier("spot")
	held := sum.Total.Held
	var left capcli.GPUTime
	leftGPUs := 0.0
	for _, v := range k.Verdicts {
		left, leftGPUs = left+v.LeftOut, leftGPUs+v.LeftOutGPUs
	}
	var wait capcli.GPUTime
	waitGPUs := 0.0
	for _, v := range k.Verdicts {
		wait, waitGPUs = wait+v.InputWait, waitGPUs+v.InputWaitGPUs
	}
	share := func(v capcli.GPUTime) float64 { return 100 * float64(v) / float64(k.Told) }
	total := func(name string) capcli.USD {
		for _, o := range x.Totals {
			if strings.HasPrefix(o.Name, name) {
				return o.Difference
			}
		}
		t.Fatalf("no total %s", name)
		return 0
	}
	cheaper := "more than"
	if many.Cost.Total < few.Cost.Total {
		cheaper = "less than"
	}
	return []string{
		fmt.Sprintf("The cluster has %d GPUs, which jobs hold for %.0f%% of the time.", len(sum.GPUs), 100*float64(held)/float64(sum.Total.Seen)),
		fmt.Sprintf("Half of its jobs wait %s and more, and one in twenty %s.", few.LogWait.P50, few.LogWait.P95),
		fmt.Sprintf("Yet of the time held, %.0f%% waits for input, and %.0f%% belongs to notebooks that do nothing.", share(wait), share(left)),
		fmt.Sprintf("For %d days %.0f GPUs suffice as likely as not, and %.0f in 95 of 100 cases.", int64(x.Length/capcli.Day), fc.Series[0].Suffices.Median, fc.Series[0].Suffices.P95),
		fmt.Sprintf("32 reserved GPUs cost %s for these weeks, %s 8 with more on demand (%s).", many.Cost.Total.Brief(), cheaper, few.Cost.Total.Brief()),
		fmt.Sprintf("First mend the input: it is worth %.1f GPUs, and the notebooks %.1f.", x.Scale*waitGPUs, x.Scale*leftGPUs),
		fmt.Sprintf("Then commit to %.0f GPUs, keep %.1f on demand on average, and run %.0f on spot: %s over %d days.", bill.First, flexible.Mean, spot.Mean, x.Cost.Brief(), int64(x.Length/capcli.Day)),
		fmt.Sprintf("All on demand costs %s more, and all reserved at the peak %s more.", total("all on demand").Brief(), total("all reserved").Brief()),
		fmt.Sprintf("Spot takes GPUs away from jobs %.0f times, and %.0f%% of what they hold there is done again.", spot.Restarts, 100*spot.Redone/spot.Held),
		fmt.Sprintf("Played on the jobs of the log, 95 of 100 jobs wait at most %s, where the log has %s.", past.WaitP95, past.LogWait.P95),
	}
}

func decode(t *testing.T, b []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%T: %v", into, err)
	}
}

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// clusterRun is what the page says of a run.
type clusterRun struct {
	Cost struct {
		Total capcli.USD `json:"total_usd"`
	}
	WaitP95 capcli.Seconds   `json:"wait_p95_s"`
	LogWait outcome.LogWaits `json:"log_wait"`
}

// playedRun returns the run that a folder of runs has.
func playedRun(t *testing.T, folder string) *clusterRun {
	t.Helper()
	var doc struct{ Runs []clusterRun }
	decode(t, readAll(t, folder+"/result.json"), &doc)
	return &doc.Runs[0]
}
