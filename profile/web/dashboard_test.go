package web

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/cmd/invoice"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/money/spend"
)

// panel is a panel of a Grafana dashboard.
type panel struct {
	ID          int
	Title       string
	Description string
	Targets     []struct{ RefID, Expr string }
}

// dashboard reads a dashboard of contrib/grafana.
func dashboard(t *testing.T, name string) []panel {
	t.Helper()
	text, err := os.ReadFile("../../contrib/grafana/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Panels []panel }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) < 15 {
		t.Fatalf("%d panels", len(d.Panels))
	}
	return d.Panels
}

// pageNames are the names of the samples on a page on which every metric of GPUs and of the box is known, and
// those that the recorder and Prometheus itself add.
func pageNames() map[string]bool {
	x := profile.NewExporter("box")
	d := &profile.Device{UUID: "GPU-a", GI: -1, CI: -1}
	tick := profile.Tick{LookedAtProcesses: true, LookedAtHost: true, Processes: []profile.Process{{Device: d, User: "mei"}}}
	s := tick.NextSample(d)
	for m := range profile.NumMetrics {
		s.Set(m, 1)
	}
	x.Free = func() (uint64, error) { return 1, nil }
	x.Observe(&tick)
	names := map[string]bool{"up": true, "ALERTS": true, "capcli_profile_up": true, "capcli_profile_last_tick_timestamp_seconds": true}
	for line := range strings.Lines(string(x.Page(false))) {
		if name, _, ok := strings.Cut(line, "{"); ok && line[0] != '#' {
			names[name] = true
		}
	}
	return names
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	word     = regexp.MustCompile(`\b(capcli[a-z0-9_:]*|ALERTS|up)\b`)
	recorded = regexp.MustCompile(`(?m)^ *- record: (\S+)`)
)

// moneyNames are the names of the metrics that capcli bill spend writes of a bill with a commitment, a budget and
// a month before, and that of capcli forecast --capacity --table full, which forecast-capacity.txtar holds.
func moneyNames(t *testing.T) map[string]bool {
	t.Helper()
	book := spend.NewBook([]string{"project"}, false)
	tags := capcli.NewTags(capcli.Tag{Name: "project", Value: "search"})
	begin := capcli.TimeOf(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range capcli.Time(45) {
		from := begin + i*capcli.Time(capcli.Day)
		cost := focus.NumberOf(focus.NewAmount(uint64(i+1), 0))
		for _, status := range []string{"", focus.Used, focus.Unused} {
			row := &focus.Row{ChargePeriodStart: from, ChargePeriodEnd: from + capcli.Time(capcli.Day), ChargeCategory: focus.Usage, EffectiveCost: cost, ListCost: cost, CommitmentDiscountStatus: status}
			if status != "" {
				row.CommitmentDiscountID = "ri"
			}
			if err := book.AddRow(row, tags); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := spend.Watch(t.Context(), book, spend.Request{Grain: "month", Model: "mean", Budgets: []spend.Budget{{By: "all", Name: "all", Amount: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	form, err := report.Forms.Get("openmetrics")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := form(&b, (&invoice.Spend{Result: r}).Doc(), report.Options{}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"ALERTS": true, "capcli_full_probability_ratio": true}
	for line := range strings.Lines(b.String()) {
		if name, _, ok := strings.Cut(strings.Replace(line, " ", "{", 1), "{"); ok && line[0] != '#' {
			names[name] = true
		}
	}
	return names
}

// The dashboards and the rules of contrib ask only for metrics that there are. Where CAPCLI_PROMETHEUS names a
// server that scrapes the fake box and a file of bill spend, every query of the dashboards has an answer, but for
// panels that say that they may be empty.
func TestDashboard(t *testing.T) {
	rules, err := os.ReadFile("../../contrib/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names, money := pageNames(), moneyNames(t)
	for _, m := range recorded.FindAllStringSubmatch(string(rules), -1) {
		names[m[1]] = true
	}
	for line := range strings.Lines(string(rules)) {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "#") || strings.HasPrefix(text, "summary:") || strings.HasPrefix(text, "description:") || strings.HasPrefix(text, "- name:") {
			continue
		}
		for _, name := range word.FindAllString(quoted.ReplaceAllString(line, ""), -1) {
			if !names[name] && !money[name] {
				t.Errorf("alerts.yaml asks for %s, which nothing tells: %s", name, line)
			}
		}
	}
	checkPanels(t, dashboard(t, "capcli.json"), names)
	checkPanels(t, dashboard(t, "capcli-money.json"), money)
}

// checkPanels checks the panels of one dashboard, which may ask for names.
func checkPanels(t *testing.T, panels []panel, names map[string]bool) {
	t.Helper()
	server := os.Getenv("CAPCLI_PROMETHEUS")
	var ids []int
	for _, p := range panels {
		if slices.Contains(ids, p.ID) || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: an ID of its own, a title and a query are wanted", p.ID, p.Title)
		}
		ids = append(ids, p.ID)
		for _, q := range p.Targets {
			for _, name := range word.FindAllString(quoted.ReplaceAllString(q.Expr, ""), -1) {
				if !names[name] {
					t.Errorf("panel %q asks for %s, which nothing tells", p.Title, name)
				}
			}
			if server != "" {
				n, err := answers(server, q.Expr)
				if err != nil || n == 0 && !strings.HasPrefix(p.Description, "Empty ") {
					t.Errorf("panel %q: %d answers, %v: %s", p.Title, n, err, q.Expr)
				}
			}
		}
	}
}

// answers returns how many series a query of the dashboard gives now.
func answers(server, query string) (int, error) {
	query = strings.NewReplacer("$host", ".*", "$by", "project", "$name", ".*", "$__rate_interval", "1m").Replace(query)
	client := http.Client{Timeout: 10 * time.Second}
	res, err := client.Get(server + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	var got struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return 0, err
	}
	if got.Status != "success" {
		return 0, fmt.Errorf("%s", got.Error)
	}
	return len(got.Data.Result), nil
}

// Two summaries, of a recording and of what came back of a Prometheus server that scraped it each second, are
// the same: GPUs and jobs exactly, times within two seconds a GPU, means of percents within what half a second
// of ten can move them.
func TestRoundTripFiles(t *testing.T) {
	direct, back := os.Getenv("CAPCLI_DIRECT"), os.Getenv("CAPCLI_BACK")
	if direct == "" || back == "" {
		t.Skip("no summaries: CAPCLI_DIRECT and CAPCLI_BACK name them")
	}
	type use struct {
		UUID   string   `json:"gpu_uuid"`
		ID     string   `json:"job_id"`
		Tenant string   `json:"tenant"`
		Seen   float64  `json:"seen_gpu_hours"`
		Held   float64  `json:"held_gpu_hours"`
		Util   *float64 `json:"util_gpu_pct_mean"`
		SM     *float64 `json:"sm_active_pct_mean"`
		Memory float64  `json:"mem_used_bytes_max"`
		Watts  *float64 `json:"power_w_mean"`
		Energy float64  `json:"energy_kwh"`
	}
	read := func(name string) (out struct{ GPUs, Jobs []use }) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		// Before the first look at processes in the time, memory in use tells that a GPU is held.
		out.Jobs = slices.DeleteFunc(out.Jobs, func(u use) bool { return u.ID == "(not told)" })
		slices.SortFunc(out.Jobs, func(a, b use) int { return strings.Compare(a.ID, b.ID) })
		return out
	}
	a, b := read(direct), read(back)
	if len(a.GPUs) != len(b.GPUs) || len(a.Jobs) != len(b.Jobs) || len(a.GPUs) == 0 {
		t.Fatalf("%d GPUs and %d jobs came back as %d and %d", len(a.GPUs), len(a.Jobs), len(b.GPUs), len(b.Jobs))
	}
	compare := func(x, y use) {
		devices := max(1, math.Round(x.Seen/(9.0/3600)))
		if x.UUID != y.UUID || x.ID != y.ID || x.Tenant != y.Tenant {
			t.Errorf("%s%s of %s came back as %s%s of %s", x.UUID, x.ID, x.Tenant, y.UUID, y.ID, y.Tenant)
		}
		for _, v := range []struct {
			name        string
			x, y, bound float64
		}{
			// A second at each end, and one whose scrape a busy machine misses.
			{"seen s", 3600 * x.Seen, 3600 * y.Seen, 3.1 * devices},
			{"held s", 3600 * x.Held, 3600 * y.Held, 3.1 * devices},
			{"util", *x.Util, *y.Util, 20},
			{"SM", *x.SM, *y.SM, 20},
			{"watts", *x.Watts, *y.Watts, 120},
			{"memory", x.Memory, y.Memory, x.Memory / 10},
			{"kJ", 3600 * x.Energy, 3600 * y.Energy, 2.1 * devices},
		} {
			if !(math.Abs(v.x-v.y) <= v.bound) {
				t.Errorf("%s%s, %s: %.3f came back as %.3f, want it within %.3f", x.UUID, x.ID, v.name, v.x, v.y, v.bound)
			}
		}
	}
	for i := range a.GPUs {
		compare(a.GPUs[i], b.GPUs[i])
	}
	for i := range a.Jobs {
		compare(a.Jobs[i], b.Jobs[i])
	}
}
