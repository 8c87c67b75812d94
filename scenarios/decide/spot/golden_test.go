package spot_test

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide/spot"
	"capcli/simulate/supply"
	"capcli/testdata/golden"
)

// golden opens a file of the answers, or skips the test.
func openGolden(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "golden", "elastic", "spot", name))
	if err != nil {
		t.Skip("the golden answers are not here")
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// recordings caches the recordings that a test reads.
type recordings map[string]supply.Availability

func (r recordings) read(t *testing.T, name string) supply.Availability {
	t.Helper()
	if a, ok := r[name]; ok {
		return a
	}
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "data", "spot", filepath.FromSlash(name)))
	if err != nil {
		t.Skip("the recordings are not here")
	}
	defer func() { _ = f.Close() }()
	a, err := supply.ParseAvailability(bufio.NewReader(f), supply.CountsAvailable)
	if err != nil {
		t.Fatal(err)
	}
	r[name] = a
	return a
}

func ticks(a supply.Availability, start, nodes int) []bool {
	var out []bool
	for _, c := range a.Counts[start:] {
		out = append(out, c >= nodes)
	}
	return out
}

func policyNamed(name string) *spot.Policy {
	for _, p := range spot.Policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func usd(t *testing.T, text string) capcli.USD {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return capcli.USD(math.Round(v * 1e6))
}

func states(s *spot.Stay) string {
	var b strings.Builder
	for _, c := range s.Choices {
		b.WriteByte(byte(c))
	}
	return b.String()
}

func TestSmallGolden(t *testing.T) {
	var cases []struct {
		ID, Avail string
		Gap       capcli.Seconds `json:"gap_s"`
		Work      capcli.Seconds `json:"work_s"`
		Deadline  capcli.Seconds `json:"deadline_s"`
		Delay     capcli.Seconds `json:"delay_s"`
		Demand    string         `json:"od_usd_h"`
		Spot      string         `json:"spot_usd_h"`
		Expect    map[string]struct {
			States         string
			Finished, Late bool
			End            capcli.Seconds `json:"end_s"`
			Changeovers    int64
			Cost           string `json:"cost_usd"`
			CostToEnd      string `json:"cost_to_end_usd"`
		}
	}
	if err := json.NewDecoder(openGolden(t, "small.json")).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		j := spot.Job{Gap: c.Gap, Work: c.Work, Deadline: c.Deadline, Delay: c.Delay, Nodes: 1, Spot: usd(t, c.Spot), OnDemand: usd(t, c.Demand)}
		for _, r := range c.Avail {
			j.Available = append(j.Available, r == '1')
		}
		for name, want := range c.Expect {
			if name == "omniscient" {
				if got, ok := j.LeastCost(); !ok || got.Cost != usd(t, want.Cost) {
					t.Errorf("%s omniscient: got %v %v, want %s", c.ID, got.Cost, ok, want.Cost)
				}
				continue
			}
			got := j.Play(policyNamed(name))
			if states(&got) != want.States || got.Finished != want.Finished {
				t.Errorf("%s %s: got %s %v, want %s %v", c.ID, name, states(&got), got.Finished, want.States, want.Finished)
			}
			if want.Finished && (got.Late != want.Late || got.End != want.End || got.Changeovers != want.Changeovers || got.Cost != usd(t, want.Cost) || got.CostToEnd != usd(t, want.CostToEnd)) {
				t.Errorf("%s %s: got %+v, want %+v", c.ID, name, got, want)
			}
		}
	}
}

// rows reads a table by column.
func rows(t *testing.T, name string) (out []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(openGolden(t, name)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, c := range all[0] {
			m[c] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTracesGolden plays all recorded cases: each column must be equal.
func TestTracesGolden(t *testing.T) {
	if golden.Short() {
		t.Skip("whole logs take long under the race detector")
	}
	known := recordings{}
	decisions := map[string]string{}
	for _, r := range rows(t, "decisions.csv.gz") {
		decisions[r["id"]] = r["states"]
	}
	least := 0
	for _, r := range rows(t, "traces.csv.gz") {
		sec := func(name string) capcli.Seconds { return capcli.Seconds(number(t, r[name])) }
		nodes := int(number(t, r["nodes"]))
		a := known.read(t, r["file"])
		j := spot.Job{
			Available: ticks(a, int(number(t, r["start_tick"])), nodes), Gap: sec("gap_s"), Work: sec("work_s"), Deadline: sec("deadline_s"), Delay: sec("delay_s"),
			Nodes: nodes, Spot: usd(t, r["spot_usd_h"]), OnDemand: usd(t, r["od_usd_h"]),
		}
		if r["policy"] == "omniscient" {
			if least++; r["cost_usd"] == "" || os.Getenv("CAPCLI_LONG") != "1" && least%5 != 0 {
				continue
			}
			got, ok := j.LeastCost()
			text := fmt.Sprint(got.SpotTicks, got.DemandTicks, got.Cost.Decimal())
			if want := fmt.Sprint(r["spot_ticks"], " ", r["od_ticks"], " ", usd(t, r["cost_usd"]).Decimal()); !ok || strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s omniscient: got %s %v, want %s", r["id"], text, ok, want)
			}
			continue
		}
		got := j.Play(policyNamed(r["policy"]))
		text := map[string]string{
			"finished": "0", "late": "", "end_s": "", "ticks": "", "spot_ticks": fmt.Sprint(got.SpotTicks), "od_ticks": fmt.Sprint(got.DemandTicks),
			"spot_work_s": fmt.Sprint(int64(got.SpotWork)), "od_work_s": fmt.Sprint(int64(got.DemandWork)), "changeovers": fmt.Sprint(got.Changeovers),
		}
		if got.Finished {
			text["finished"], text["end_s"], text["ticks"], text["late"] = "1", fmt.Sprint(int64(got.End)), fmt.Sprint(len(got.Choices)), "0"
			if got.Late {
				text["late"] = "1"
			}
			if !isNear(got.Cost, usd(t, r["cost_usd"])) || !isNear(got.CostToEnd, usd(t, r["cost_to_end_usd"])) {
				t.Errorf("%s %s: cost %s %s, want %s %s", r["id"], r["policy"], got.Cost.Decimal(), got.CostToEnd.Decimal(), r["cost_usd"], r["cost_to_end_usd"])
			}
		}
		for name, v := range text {
			if r[name] != v {
				t.Errorf("%s %s %s: got %s, want %s", r["id"], r["policy"], name, v, r[name])
			}
		}
		if want, ok := decisions[r["id"]]; ok && runLengths(got.Choices) != want {
			t.Errorf("%s %s: chose %s, want %s", r["id"], r["policy"], runLengths(got.Choices), want)
		}
	}
	if least == 0 {
		t.Error("no omniscient case was compared")
	}
}

// runLengths writes choices as "18s 55. 23s".
func runLengths(c []spot.Choice) string {
	var out []string
	for i := 0; i < len(c); {
		k := i
		for k < len(c) && c[k] == c[i] {
			k++
		}
		out = append(out, fmt.Sprint(k-i)+string(rune(c[i])))
		i = k
	}
	return strings.Join(out, " ")
}

// isNear reports whether two amounts differ by a millionth of a dollar at most: half of one may be
// rounded either way.
func isNear(a, b capcli.USD) bool { return a-b <= 1 && b-a <= 1 }

// TestMeansGolden plays the 300 published windows of the eight recordings of 2022: mean costs,
// savings and hours on spot and on demand.
func TestMeansGolden(t *testing.T) {
	if golden.Short() {
		t.Skip("whole logs take long under the race detector")
	}
	var starts []int
	for _, r := range rows(t, "windows.csv") {
		starts = append(starts, int(number(t, r["start_tick"])))
	}
	known := recordings{}
	tried := 0
	for k, r := range rows(t, "means.csv") {
		p := policyNamed(r["policy"])
		if p == nil || os.Getenv("CAPCLI_LONG") != "1" && k%3 != 0 {
			continue
		}
		tried++
		a := known.read(t, "availability/1-node/aws-10-26-2022/"+r["trace"]+".json")
		var cost capcli.USD
		var late int64
		var demand, onSpot capcli.Seconds
		for _, start := range starts {
			j := spot.Job{
				Available: ticks(a, start, 1), Gap: a.Gap, Work: capcli.Seconds(number(t, r["work_s"])), Deadline: capcli.Seconds(number(t, r["deadline_s"])),
				Delay: capcli.Seconds(number(t, r["delay_s"])), Nodes: 1, Spot: usd(t, "0.9731"), OnDemand: usd(t, "3.06"),
			}
			s := j.Play(p)
			cost += s.Cost
			demand += s.DemandWork
			onSpot += s.SpotWork
			if s.Late || !s.Finished {
				late++
			}
		}
		n := float64(len(starts))
		for _, x := range []struct {
			name      string
			got, most float64
		}{
			{"mean_cost_usd", cost.Float() / n, 2e-6}, {"od_work_h", demand.Hours() / n, 1e-4}, {"spot_work_h", onSpot.Hours() / n, 1e-4}, {"late", float64(late), 0},
		} {
			want, err := strconv.ParseFloat(r[x.name], 64)
			if err != nil || math.Abs(x.got-want) > x.most {
				t.Errorf("%s %s %s: got %f, want %s", r["trace"], r["policy"], x.name, x.got, r[x.name])
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d rows", tried)
	}
}
