package report

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"capcli"
)

var (
	metricLine = regexp.MustCompile(`^([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)$`)
	metricPair = regexp.MustCompile(`^([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)`)
)

// checkOpenMetrics holds a text against the grammar and the rules of OpenMetrics 1.0 for gauges. It returns
// the value of each series.
func checkOpenMetrics(text string) (map[string]float64, error) {
	out, seen := map[string]float64{}, map[string]bool{}
	family := ""
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok {
		return nil, fmt.Errorf("no # EOF at the end")
	}
	for i, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		wrong := func(what string) error { return fmt.Errorf("line %d: %s: %q", i+1, what, line) }
		word := strings.SplitN(line, " ", 4)
		if line == "" || strings.Contains(line, "\r") {
			return nil, wrong("an empty line")
		}
		if word[0] == "#" {
			switch {
			case len(word) < 4:
				return nil, wrong("a comment")
			case word[1] == "TYPE" && (seen[word[2]] || word[3] != "gauge"):
				return nil, wrong("a family twice, or no gauge")
			case word[1] == "TYPE":
				family, seen[word[2]] = word[2], true
			case word[2] != family:
				return nil, wrong("of another family")
			case word[1] == "UNIT":
				if !strings.HasSuffix(family, "_"+word[3]) {
					return nil, wrong("a name without its unit")
				}
			case word[1] == "HELP" && regexp.MustCompile(`\\[^\\n"]|\\$`).MatchString(strings.ReplaceAll(word[3], `\\`, "")):
				return nil, wrong("a wrong escape")
			}
			continue
		}
		m := metricLine.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			return nil, wrong("no sample of its family")
		}
		names := map[string]bool{}
		for rest := m[2]; rest != ""; {
			p := metricPair.FindStringSubmatch(rest)
			if p == nil || names[p[1]] {
				return nil, wrong("labels")
			}
			names[p[1]] = true
			rest = rest[len(p[0]):]
		}
		key := m[1] + "{" + m[2] + "}"
		v, err := strconv.ParseFloat(m[3], 64)
		if _, twice := out[key]; twice || err != nil || math.IsNaN(v) {
			return nil, wrong("a series twice, or no number")
		}
		out[key] = v
	}
	return out, nil
}

func metricsOfTest(hostile string) Doc {
	return Doc{Tables: []Table{
		{Name: "runs", Title: hostile, Columns: []Column{{Name: "scenario"}, {Name: "cost_usd", Head: hostile}, {Name: "wait_p95_s"}, {Name: "served"}, {Name: "jobs_total"}, {Name: "scenario"}}, Rows: [][]any{
			{hostile, capcli.USD(1_500_000), capcli.Seconds(90), Percent(0.5), 7, "x"},
			{"b", Range{Mid: capcli.USD(1), Lo: capcli.USD(0), Hi: capcli.USD(2)}, nil, Percent(1), 8, Verdict{Text: "late"}},
			{"b", capcli.USD(3), nil, AtLeast{Of: 5}, 9, Verdict{Text: "late"}},
		}},
		{Name: "figures-" + hostile, Columns: []Column{{Name: "figure"}, {Name: "value"}, {Name: "other"}}, Rows: [][]any{
			{Label{Name: "mean_gpus", Head: "mean"}, 5.25, 1.0},
			{Label{Name: "kept", Head: "kept"}, true, nil},
			{Label{Name: "used_gpu_hours", Head: "used"}, capcli.GPUTime(1500), nil},
		}},
	}}
}

func TestOpenMetrics(t *testing.T) {
	var b bytes.Buffer
	if err := writeOpenMetrics(&b, metricsOfTest("a"), Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := checkOpenMetrics(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for key, want := range map[string]float64{
		`capcli_runs_cost_usd{scenario="a",scenario_="x",row="1"}`:            1.5,
		`capcli_runs_cost_usd{scenario="b",scenario_="late",row="2"}`:         0.000001,
		`capcli_runs_cost_hi_usd{scenario="b",scenario_="late",row="2"}`:      0.000002,
		`capcli_runs_wait_p95_seconds{scenario="a",scenario_="x",row="1"}`:    90,
		`capcli_runs_served_ratio{scenario="b",scenario_="late",row="2"}`:     1,
		`capcli_runs_jobs_total_value{scenario="b",scenario_="late",row="3"}`: 9,
		`capcli_figures_a_used_gpu_seconds{}`:                                 1.5,
		`capcli_figures_a_mean_gpus{}`:                                        5.25,
		`capcli_figures_a_mean_gpus_other{}`:                                  1,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s = %v, want %v\n%s", key, v, want, b.String())
		}
	}
}

// hostileNames are names that break a text format which does not escape them.
var hostileNames = []string{
	`"`, `\`, `\"`, "a\nb", "a\n# EOF\nb", `x"} 1` + "\n" + `evil{a="`, "\r\n", "\x00", "\x1b[31m", "é漢字🙂", "\xff\xfe", "{}", "a=b,c", "", " ", "# TYPE x gauge", `\n`,
}

func TestOpenMetricsEscapes(t *testing.T) {
	promtool, _ := exec.LookPath("promtool")
	for _, name := range hostileNames {
		var b bytes.Buffer
		if err := writeOpenMetrics(&b, metricsOfTest(name), Options{}); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if _, err := checkOpenMetrics(b.String()); err != nil {
			t.Errorf("%q: %v\n%s", name, err, b.String())
		}
		if promtool != "" {
			cmd := exec.Command(promtool, "check", "metrics")
			cmd.Stdin = strings.NewReader(strings.TrimSuffix(b.String(), "# EOF\n"))
			if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 3 { // 3: it dislikes a name
				t.Errorf("%q: promtool: %v: %s", name, err, out)
			}
		}
	}
	if promtool == "" {
		t.Log("there is no promtool here (Debian: prometheus): only our own checker judged")
	}
}

func TestOpenMetricsRefuses(t *testing.T) {
	for _, d := range []Doc{{}, {Tables: []Table{{Name: "x", Columns: []Column{{Name: "a"}}, Rows: [][]any{{"text"}}}}}} {
		if err := writeOpenMetrics(&bytes.Buffer{}, d, Options{}); err == nil {
			t.Errorf("%+v is written", d)
		}
	}
	for _, text := range []string{"a 1\n", "# TYPE a gauge\na 1\n", "# TYPE a gauge\na 1\na 1\n# EOF\n", "# TYPE a gauge\na{b=\"\"c\"} 1\n# EOF\n", "# TYPE a gauge\n# UNIT a usd\na 1\n# EOF\n"} {
		if _, err := checkOpenMetrics(text); err == nil {
			t.Errorf("the checker takes %q", text)
		}
	}
}
