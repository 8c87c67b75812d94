package backtest_test

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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
)

var start = time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC)

// hours is the length of Snowflake's demand.
const hours = 26280

// readSnowflake reads the hourly demand by series: region-N, type-X and N-X.
var readSnowflake = sync.OnceValues(func() (map[string][]float64, error) {
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "demand", "snowflake_hourly.csv.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	rows := csv.NewReader(bufio.NewReader(z))
	rows.ReuseRecord = true
	if _, err := rows.Read(); err != nil {
		return nil, err
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		at, err := time.Parse("2006-01-02 15:04:05.000", row[0])
		if err != nil {
			return nil, err
		}
		v, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"region-" + row[1], "type-" + row[2], row[1] + "-" + row[2]} {
			if out[name] == nil {
				out[name] = make([]float64, hours)
			}
			out[name][int(at.Sub(start).Hours())] += v
		}
	}
})

type money string

// matches reports whether c is the amount to a cent.
func (m money) matches(c capcli.USD) bool {
	v, err := strconv.ParseFloat(string(m), 64)
	return err == nil && math.Abs(v-c.Float()) < 0.01
}

type single struct {
	Until     string
	Hours     int
	Hindsight struct {
		Units, To int64
		Cost      money
	}
	Rules map[string]struct {
		Units int64
		Cost  money
	}
	Rolled *struct {
		Hindsight money
		Rules     map[string]struct {
			Units []int64
			Cost  money
		}
	} `json:"rolled_for_a_year"`
}

type played struct {
	Reserved int64
	Prorated money `json:"cost_prorated"`
}

type golden struct {
	Series, Origin string
	Flat, Dated    map[string]single
	Year           map[string]json.RawMessage
}

func readGolden(t testing.TB) []golden {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "golden", "commitments", "regret.jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the golden answers are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	for d := json.NewDecoder(z); ; {
		var g golden
		if err := d.Decode(&g); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
}

func snowflake(t testing.TB, name string) *plan.Curve {
	t.Helper()
	all, err := readSnowflake()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the demand is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.NewCurve(capcli.TimeOf(start), capcli.Step{Seconds: capcli.Hour}, all[name])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func secondsOf(t testing.TB, day string) capcli.Seconds {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return capcli.Seconds(at.Sub(start) / time.Second)
}

// googleMarket has Google's prices of a GPU-hour from three dates on, and a made-up fall.
func googleMarket(t testing.TB, lengths map[string]capcli.Step) *plan.Market {
	dates := []capcli.Seconds{math.MinInt64, secondsOf(t, "2022-02-16"), secondsOf(t, "2023-06-01")}
	prices := func(rates ...capcli.Rate) plan.Prices {
		var out plan.Prices
		for i, r := range rates {
			out = append(out, plan.Price{From: dates[i], Rate: r})
		}
		return out
	}
	return &plan.Market{OnDemand: prices(3_558_986, 3_673_385, 2_057_096), Terms: []plan.Term{
		{Name: "1mo", Length: lengths["1mo"], Rate: prices(2_135_392, 2_204_031, 1_234_258)},
		{Name: "3mo", Length: lengths["3mo"], Rate: prices(2_669_240, 2_755_039, 1_542_822)},
		{Name: "1y", Length: lengths["1y"], Rate: prices(2_242_144, 2_314_207, 1_295_956)},
	}}
}

var calendar = map[string]capcli.Step{"1mo": {Months: 1}, "3mo": {Months: 3}, "1y": {Months: 12}}

// TestGoldenRules holds hindsight and every rule, decided once and rolled for a year, at flat and at
// dated prices, against an independent program.
func TestGoldenRules(t *testing.T) {
	rules := backtest.Rules()
	for _, g := range readGolden(t) {
		c, m := snowflake(t, g.Series), googleMarket(t, calendar)
		for kind, list := range map[string]map[string]single{"flat": g.Flat, "dated": g.Dated} {
			for term := range m.Terms {
				want, ok := list[m.Terms[term].Name]
				if !ok {
					continue
				}
				q := &backtest.Question{Curve: c, Market: m, Term: term, Flat: kind == "flat", Origins: []capcli.Seconds{secondsOf(t, g.Origin)}, Rules: rules}
				where := strings.Join([]string{g.Series, g.Origin, kind, m.Terms[term].Name}, " ")
				holdSingle(t, where, q, &want)
				if want.Rolled != nil {
					holdRolled(t, where, q, &want)
				}
			}
		}
	}
}

func runOne(t *testing.T, where string, q *backtest.Question) *backtest.Trial {
	t.Helper()
	trials, err := q.Run(t.Context())
	if err != nil || len(trials) != 1 {
		t.Fatalf("%s: %d trials, %v", where, len(trials), err)
	}
	return &trials[0]
}

func holdSingle(t *testing.T, where string, q *backtest.Question, want *single) {
	t.Helper()
	got := runOne(t, where, q)
	if end := secondsOf(t, want.Until); got.End != end || got.End-got.At != capcli.Seconds(want.Hours)*capcli.Hour {
		t.Errorf("%s: ends at %d, want %d", where, got.End, end)
	}
	if got.Best.Lots[0] != want.Hindsight.Units || got.Most[0] != want.Hindsight.To || !want.Hindsight.Cost.matches(got.Best.Cost) {
		t.Errorf("%s: hindsight %d to %d at %s, want %+v", where, got.Best.Lots[0], got.Most[0], got.Best.Cost.Decimal(), want.Hindsight)
	}
	for k, r := range q.Rules {
		w, ok := want.Rules[r.Name]
		if !ok || got.Rule[k].Lots[0] != w.Units || !w.Cost.matches(got.Rule[k].Cost) {
			t.Errorf("%s: %s buys %d at %s, want %+v", where, r.Name, got.Rule[k].Lots[0], got.Rule[k].Cost.Decimal(), w)
		}
	}
}

func holdRolled(t *testing.T, where string, q *backtest.Question, want *single) {
	t.Helper()
	rolled := *q
	rolled.Rolled = capcli.Step{Months: 12}
	got := runOne(t, where, &rolled)
	if !want.Rolled.Hindsight.matches(got.Best.Cost) {
		t.Errorf("%s rolled: hindsight %s, want %s", where, got.Best.Cost.Decimal(), want.Rolled.Hindsight)
	}
	for k, r := range q.Rules {
		w := want.Rolled.Rules[r.Name]
		if !equal(got.Rule[k].Lots, w.Units) || !w.Cost.matches(got.Rule[k].Cost) {
			t.Errorf("%s rolled: %s buys %v at %s, want %+v", where, r.Name, got.Rule[k].Lots, got.Rule[k].Cost.Decimal(), w)
		}
	}
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestGoldenOnline holds the online policies on a year of real hours against an independent program.
func TestGoldenOnline(t *testing.T) {
	fixed := map[string]capcli.Step{"1mo": {Seconds: 720 * capcli.Hour}, "3mo": {Seconds: 2160 * capcli.Hour}, "1y": {Seconds: 8760 * capcli.Hour}}
	for i, g := range readGolden(t) {
		if i%8 != 3 && os.Getenv("CAPCLI_LONG") == "" {
			continue // an eighth of the cases in a second
		}
		c, m := snowflake(t, g.Series), googleMarket(t, fixed)
		for term := range m.Terms {
			var want map[string]json.RawMessage
			if err := json.Unmarshal(g.Year[m.Terms[term].Name], &want); err != nil {
				t.Fatal(err)
			}
			q := &backtest.Question{
				Curve: c, Market: m, Term: term, Flat: true, Rolled: capcli.Step{Seconds: 8760 * capcli.Hour},
				Origins: []capcli.Seconds{secondsOf(t, g.Origin)}, Rules: backtest.OnlineRules(),
			}
			got := runOne(t, g.Series, q)
			for k, name := range []string{"deterministic-cold", "deterministic-warm", "randomised-cold"} {
				o := got.Rule[k]
				list := []played{{}}
				err := json.Unmarshal(want[name], &list)
				if k < 2 {
					err = json.Unmarshal(want[name], &list[0])
				}
				if err != nil {
					t.Fatal(name, err)
				}
				var reserved int64
				var cost float64
				for _, p := range list {
					v, err := strconv.ParseFloat(string(p.Prorated), 64)
					if err != nil {
						t.Fatal(err)
					}
					reserved, cost = reserved+p.Reserved, cost+v
				}
				n := int64(len(list))
				if o.Lots[0] != (reserved+n/2)/n || math.Abs(o.Cost.Float()-cost/float64(n)) > 0.01 {
					t.Errorf("%s %s %s %s: reserves %d at %s, want %d at %f", g.Series, g.Origin, m.Terms[term].Name, name, o.Lots[0], o.Cost.Decimal(), reserved/n, cost/float64(n))
				}
			}
		}
	}
}
