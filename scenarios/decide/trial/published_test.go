package trial

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
)

var update = flag.Bool("update", false, "write the table of docs/backtest.md")

// Marks around the measured part of the page.
const begin, end = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"

// published is the measured part of docs/backtest.md.
func published(t *testing.T) string {
	var b strings.Builder
	month, year, week := capcli.Step{Months: 1}, capcli.Step{Months: 12}, capcli.Step{Days: 7}
	series := readSnowflake(t)
	var names []string
	for name := range series {
		if strings.HasPrefix(name, "region-") || strings.HasPrefix(name, "type-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	head(&b, "A month at 0.60 of on demand")
	for _, name := range names {
		row(t, &b, "Snowflake "+name, series[name], month, capcli.Step{}, 0.6, 24)
	}
	for _, log := range jobLogs {
		row(t, &b, log.name, readLog(t, log.path...), month, capcli.Step{}, 0.6, 24)
	}
	helios := readLog(t, "helios", "helios_venus_2vc_sept.csv")
	row(t, &b, "Helios, a week of it", helios, month, week, 0.6, 5)
	b.WriteString("\n")
	head(&b, "A year at 0.63 of on demand")
	for _, name := range names {
		row(t, &b, "Snowflake "+name, series[name], year, capcli.Step{}, 0.63, 24)
	}
	return b.String()
}

// shown are the rules of the table, after the forecast.
var shown = []string{"break-even-7", "break-even-30", "break-even-60", "mean-30", "gcp-stable", "all-on-demand"}

func head(b *strings.Builder, title string) {
	fmt.Fprintf(b, "| %s | dates | forecast | its p90 | %s | ranges held |\n|---|--:|--:|--:|%s--:|\n", title, strings.Join(shown, " | "), strings.Repeat("--:|", len(shown)))
}

// row writes the regret of one series in summed dollars, in percent of hindsight.
func row(t *testing.T, b *strings.Builder, name string, c *plan.Curve, term, horizon capcli.Step, share float64, dates int) {
	t.Helper()
	q := &backtest.Question{Curve: c, Market: floating(term, share), Horizon: horizon, Rules: tested(), Flat: true}
	first := 28 * capcli.Day
	if horizon.Length() > 0 {
		first = 14 * capcli.Day
	}
	q.Origins = datesOf(q, first, dates)
	sums := summed(t, []*backtest.Question{q})
	fmt.Fprintf(b, "| %s | %d | %s | %.1f", name, len(q.Origins), shareText(&sums[0]), 100*sums[0].P90)
	for _, rule := range shown {
		i := slices.IndexFunc(sums, func(s backtest.Summary) bool { return s.Name == rule })
		fmt.Fprintf(b, " | %s", shareText(&sums[i]))
	}
	fmt.Fprintf(b, " | %d of %d |\n", sums[0].Held, sums[0].Promised)
}

// datesOf returns up to n dates spread evenly from first to the last whose term ends within the demand.
func datesOf(q *backtest.Question, first capcli.Seconds, n int) []capcli.Seconds {
	last := q.Curve.Len() / capcli.Day * capcli.Day
	for last > first && q.EndOf(last) > q.Curve.Len() {
		last -= capcli.Day
	}
	days := int((last - first) / capcli.Day)
	n = min(n, days+1)
	var out []capcli.Seconds
	for i := range n {
		out = append(out, first+capcli.Seconds(days*i/max(1, n-1))*capcli.Day)
	}
	return out
}

func shareText(s *backtest.Summary) string {
	if s.Best == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*s.Share())
}

// TestPublished computes the table of docs/backtest.md again. It takes minutes; without CAPCLI_LONG
// the test only checks that the page has its table.
func TestPublished(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "backtest.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	if n := strings.Count(was, "\n"); n < 30 && !*update {
		t.Errorf("%s has a table of %d lines, want one for each series", file, n)
	}
	if os.Getenv("CAPCLI_LONG") == "" && !*update {
		t.Skip("CAPCLI_LONG=1 computes the table again")
	}
	is := published(t)
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+is+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if is != was {
		t.Errorf("%s: the table is\n%s\nwant (-update writes it)\n%s", file, was, is)
	}
}
