package play_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/outcome"
)

// tagged has jobs with tags and without, of tenants with tags and without, on capacity of every tier
// over three months.
const tagged = `capcli: scenario/v1
name: tagged
period: 2027-01-20 to 2027-03-10
jobs: {generate: {classes: [
  {name: train, tags: {kind: training, env: prod}, jobs_per_day: 30, sizes: [{gpus: 1}, {gpus: 4}], run_median: 2h, tenants: [{name: ann, tags: {project: search}}, {name: bob, tags: {project: ads, env: test}}]},
  {name: play, jobs_per_day: 20, sizes: [{gpus: 1}], run_median: 1h, tenants: [{name: ann}, {name: eve}]},
]}}
capacity: [{name: base, kind: reserved, gpus: 8, price: 1.234567, term: 1mo}, {name: more, kind: on_demand, gpus: 8, price: 3.999999, min_billing: 1h},
  {name: cheap, kind: spot, nodes: 2, gpus_per_node: 4, price: 0.77, hazard: {mean_up: 12h, mean_down: 1h}}]
overflow: {patience: 30m}
tenants: [{name: eve, tags: {team: lab}}]
`

// Every tag divides the invoice and the jobs, to the millionth; tags change nothing else.
func TestTagsDivideTheInvoice(t *testing.T) {
	plain := regexp.MustCompile(`tags: \{[^}]*\}(, )?`).ReplaceAllString(tagged, "")
	for _, seed := range []string{"1", "2", "3", "4", "5"} {
		with, without := playText(t, tagged+"seed: "+seed+"\n"), playText(t, plain+"seed: "+seed+"\n")
		if *with.Cost.Total != *without.Cost.Total || fmt.Sprint(with.Cost.ByTenant) != fmt.Sprint(without.Cost.ByTenant) || with.WaitMean != without.WaitMean {
			t.Errorf("tags change the run: %s and %s", with.Cost.Total, without.Cost.Total)
		}
		if without.Tags != nil {
			t.Error("there are tags where no job has one")
		}
		var names []string
		for _, b := range with.Tags {
			names = append(names, b.Tag)
			var sum, direct, share, tiers capcli.USD
			var jobs, finished, started int64
			var used, redone capcli.GPUTime
			for _, v := range b.Values {
				sum, direct, share = sum+*v.Cost, direct+*v.Direct, share+*v.Share
				jobs, finished, started = jobs+v.Jobs, finished+v.Finished, started+v.Started
				used, redone = used+v.Used, redone+v.Redone
				for _, c := range v.ByTier {
					tiers += c
				}
				if v.Share.Float() < 0 || v.Jobs == 0 || v.WaitP50 == nil {
					t.Errorf("%s %s: %+v", b.Tag, v.Label(), v)
				}
			}
			if sum != *with.Cost.Total || tiers != sum || direct+share != sum || jobs != with.Jobs.Read || finished != with.Jobs.Finished || started != with.Started {
				t.Errorf("%s: %s of %s, %d of %d jobs", b.Tag, sum.Decimal(), with.Cost.Total.Decimal(), jobs, with.Jobs.Read)
			}
			if used != with.Capacity.Used || redone == 0 {
				t.Errorf("%s: %d of %d used, %d redone", b.Tag, used, with.Capacity.Used, redone)
			}
		}
		if !slices.Equal(names, []string{"env", "kind", "project", "team"}) {
			t.Errorf("got tags %v", names)
		}
		checkOneTenant(t, with)
	}
}

// The tag team is on all jobs of eve and on no other: its cost is that of the tenant.
func checkOneTenant(t *testing.T, o *outcome.Outcome) {
	t.Helper()
	i := slices.IndexFunc(o.FindTag("team").Values, func(v outcome.TagValue) bool { return v.Value == "lab" })
	e := slices.IndexFunc(o.Tenants, func(x outcome.Tenant) bool { return x.Name == "eve" })
	v, eve := o.FindTag("team").Values[i], o.Tenants[e]
	if *v.Cost != *eve.Cost || v.Jobs != eve.Jobs || v.WaitMean != eve.WaitMean || v.ServedShare != eve.ServedShare || v.JCTMean != eve.JCTMean {
		t.Errorf("team lab: got %+v, its only tenant has %+v", v, eve)
	}
}

// The rows of use in FOCUS carry the tags, and what they cost is what the tags' jobs held.
func TestFocusHasTags(t *testing.T) {
	runs, err := newCase(t, tagged).Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	held := map[capcli.Tag]float64{}
	rows := 0
	runs[0].FocusRows("main", func(r *focus.Row) {
		if rows++; r.Tags == "" {
			return
		}
		var tags map[string]string
		if err := json.Unmarshal([]byte(r.Tags), &tags); err != nil {
			t.Fatal(err)
		}
		cost, err := strconv.ParseFloat(r.EffectiveCost.String(), 64)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range tags {
			held[capcli.Tag{Name: name, Value: value}] += cost
		}
	})
	for _, b := range runs[0].Tags {
		for _, v := range b.Values {
			if got := held[capcli.Tag{Name: b.Tag, Value: v.Value}]; v.Value != "" && math.Abs(got-v.Direct.Float()) > 1e-6 {
				t.Errorf("%s %s: the rows cost %f, its jobs held %s", b.Tag, v.Value, got, v.Direct.Decimal())
			}
		}
	}
	if rows < 20 || len(held) < 8 {
		t.Errorf("only %d rows with %d tags", rows, len(held))
	}
}

func playText(t *testing.T, text string) *outcome.Outcome {
	t.Helper()
	runs, err := newCase(t, text).Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return &runs[0].Outcome
}
