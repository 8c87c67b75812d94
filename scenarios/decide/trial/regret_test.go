package trial

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
	"capcli/scenarios/decide/plan/curve"
	"capcli/testdata/golden"
)

// shared is the folder of real logs and golden answers, beside the checkout.
var shared = filepath.Join("..", "..", "..", "..", "shared")

func openShared(t testing.TB, path ...string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{shared}, path...)...))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the data are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// snowflakeStart is the first hour of Snowflake's demand, and snowflakeHours their number.
var snowflakeStart = time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC)

const snowflakeHours = 26280

// readSnowflake reads Snowflake's hourly demand ("Shaved Ice", ICPE 2025) by series: region-N,
// type-X and N-X.
func readSnowflake(t testing.TB) map[string]*plan.Curve {
	t.Helper()
	z, err := gzip.NewReader(openShared(t, "data", "demand", "snowflake_hourly.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	gpus := map[string][]float64{}
	rows := csv.NewReader(bufio.NewReader(z))
	rows.ReuseRecord = true
	_, err = rows.Read()
	for err == nil {
		var row []string
		if row, err = rows.Read(); err != nil {
			break
		}
		at, bad := time.Parse("2006-01-02 15:04:05.000", row[0])
		v, wrong := strconv.ParseFloat(row[3], 64)
		if err = errors.Join(bad, wrong); err != nil {
			break
		}
		for _, name := range []string{"region-" + row[1], "type-" + row[2], row[1] + "-" + row[2]} {
			if gpus[name] == nil {
				gpus[name] = make([]float64, snowflakeHours)
			}
			gpus[name][int(at.Sub(snowflakeStart).Hours())] += v
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	out := map[string]*plan.Curve{}
	for name, v := range gpus {
		out[name] = curveOf(t, capcli.TimeOf(snowflakeStart), v)
	}
	return out
}

func curveOf(t testing.TB, start capcli.Time, gpus []float64) *plan.Curve {
	t.Helper()
	c, err := plan.NewCurve(start, capcli.Step{Seconds: capcli.Hour}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readLog returns the hourly demand of a job log, on the hours that it covers in full.
func readLog(t testing.TB, path ...string) *plan.Curve {
	t.Helper()
	name := openShared(t, append([]string{"data"}, path...)...).Name()
	source := curve.Source{Request: demand.Request{Inputs: []string{name}, Measure: "demand", Curve: true, Whole: true}}
	d, err := source.Read(t.Context(), demand.Sources{Open: func(name string) (trace.Input, io.Closer, error) {
		f, err := os.Open(name)
		return trace.Input{Name: name, R: f}, f, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d.Curve
}

// jobLogs are the real job logs; processors of the SWF logs count as GPUs.
var jobLogs = []struct {
	name string
	path []string
}{
	{"Philly", []string{"philly", "philly_sia.csv.gz"}},
	{"KTH", []string{"swf", "KTH-SP2-1996-2.1-cln.swf.gz"}},
	{"RICC", []string{"swf", "RICC-2010-2.swf.gz"}},
	{"Metacentrum", []string{"swf", "METACENTRUM-2009-2.swf.gz"}},
	{"Curie", []string{"swf", "CEA-Curie-2011-2.1-cln.swf.gz"}},
}

// floating is a market with one term of a length, at a share of an on-demand price of a dollar.
func floating(length capcli.Step, share float64) *plan.Market {
	return &plan.Market{OnDemand: plan.Flat(1_000_000), Terms: []plan.Term{{Name: length.String(), Length: length, Rate: plan.Flat(capcli.Rate(math.Round(1e6 * share)))}}}
}

// tested returns the rules that are held against each other: the forecast's first.
func tested() []backtest.Rule {
	q := &Question{Request: Request{Model: DefaultModel, Paths: pathsUsual, Seed: 1}}
	return slices.Concat([]backtest.Rule{q.rule()}, backtest.Rules())
}

// summed are the summaries of questions whose prices are alike, together.
func summed(t testing.TB, questions []*backtest.Question) []backtest.Summary {
	t.Helper()
	var all []backtest.Trial
	for _, q := range questions {
		trials, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, trials...)
	}
	return backtest.Summarise(questions[0].Rules, all)
}

// TestRegretOfJobLogs holds the decision of a month's commitment at 0.60 of the price on demand
// against the 28 days before it, in months one after another up to the end of each log. The law was
// tuned on them among other series, with parameters that are the same for all.
func TestRegretOfJobLogs(t *testing.T) {
	golden.SkipLong(t)
	month := capcli.Step{Days: 30}
	rule28 := backtest.Rule{Name: "break-even-28", Decide: func(p *backtest.Past) (backtest.Decision, error) {
		return backtest.Decision{Lots: p.BreakEven(28)}, nil
	}}
	var own, rule float64
	for _, log := range jobLogs {
		c := readLog(t, log.path...)
		q := &backtest.Question{Curve: c, Market: floating(month, 0.6), Rules: append(tested()[:1:1], rule28)}
		for at := c.Len() - 30*capcli.Day; at >= 28*capcli.Day; at -= 30 * capcli.Day {
			q.Origins = append(q.Origins, at/capcli.Hour*capcli.Hour)
		}
		s := summed(t, []*backtest.Question{q})
		t.Logf("%s: %d months, forecast %.2f %% (worst %.1f), 28 days %.2f %% (worst %.1f)", log.name, len(s[0].Shares), 100*s[0].Mean, 100*s[0].Most, 100*s[1].Mean, 100*s[1].Most)
		if s[0].Mean > s[1].Mean+0.02 {
			t.Errorf("%s: the forecast regrets %.1f %%, over two points more than the rule of 28 days, %.1f %%", log.name, 100*s[0].Mean, 100*s[1].Mean)
		}
		own, rule = own+s[0].Mean/float64(len(jobLogs)), rule+s[1].Mean/float64(len(jobLogs))
	}
	t.Logf("mean of the logs: forecast %.2f %%, 28 days %.2f %%", 100*own, 100*rule)
	if own > 0.75*rule {
		t.Errorf("the forecast regrets %.2f %% in the mean of the logs, want at most three quarters of %.2f %%", 100*own, 100*rule)
	}
}

// goldenCase is a case of the golden answers: what a program that is not ours found for the rules.
type goldenCase struct {
	Series, Origin string
	Flat           map[string]struct {
		Hindsight struct{ Cost string }
	}
}

// TestRegretOfSnowflake holds single decisions and those rolled for a year against the best rule of
// thumb, in summed dollars. The short test takes a part of the cases, and the 30-day rule alone: the
// best of many rules on few cases is luck.
func TestRegretOfSnowflake(t *testing.T) {
	golden.SkipLong(t)
	z, err := gzip.NewReader(openShared(t, "golden", "commitments", "regret.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	long := os.Getenv("CAPCLI_LONG") != ""
	series := readSnowflake(t)
	type kind struct {
		name   string
		term   capcli.Step
		rolled capcli.Step
		ratio  float64
		every  int // of the cases in the short test
	}
	kinds := []kind{
		{"1mo", capcli.Step{Months: 1}, capcli.Step{}, 0.6, 3},
		{"3mo", capcli.Step{Months: 3}, capcli.Step{}, 0.75, 3},
		{"1y", capcli.Step{Months: 12}, capcli.Step{}, 0.63, 8},
		{"1mo rolled for a year", capcli.Step{Months: 1}, capcli.Step{Months: 12}, 0.6, 16},
	}
	asked := make([][]*backtest.Question, len(kinds))
	for i, d := 0, json.NewDecoder(z); ; i++ {
		var g goldenCase
		if err := d.Decode(&g); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, g.Origin)
		if err != nil {
			t.Fatal(err)
		}
		for k := range kinds {
			if !long && i%kinds[k].every != 1 {
				continue
			}
			asked[k] = append(asked[k], &backtest.Question{
				Curve: series[g.Series], Market: floating(kinds[k].term, kinds[k].ratio), Rolled: kinds[k].rolled, Rules: tested(), Flat: true,
				Origins: []capcli.Seconds{capcli.Seconds(day.Sub(snowflakeStart) / time.Second)},
			})
		}
	}
	for k := range kinds {
		s := summed(t, asked[k])
		best, p90 := s[1], math.Inf(1)
		for _, r := range s[1:] {
			if long && r.Cost < best.Cost || !long && r.Name == usualName {
				best = r
			}
			p90 = math.Min(p90, r.P90)
		}
		t.Logf("%s, %d cases: forecast %.2f %%, p90 %.1f %%; best rule %s %.2f %%, least p90 %.1f %%; ranges held %d of %d",
			kinds[k].name, len(s[0].Shares), 100*s[0].Share(), 100*s[0].P90, best.Name, 100*best.Share(), 100*p90, s[0].Held, s[0].Promised)
		if own := s[0]; own.Cost >= best.Cost {
			t.Errorf("%s: the forecast costs %.2f %% more than hindsight, the rule %s %.2f %%", kinds[k].name, 100*own.Share(), best.Name, 100*best.Share())
		}
	}
}
