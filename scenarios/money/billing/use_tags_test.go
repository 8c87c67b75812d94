package billing

import (
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/focus"
)

// Use has the tags that are asked for: of columns, of the tags of a bill in FOCUS, and of who used it.
func TestUseTags(t *testing.T) {
	const own = "start,seconds,units,tenant,account,class,tag_project,env,price\n0,60,1,mei,acme,training,search,prod,2\n0,60,1,,,,,,2\n"
	const bill = `ChargePeriodStart,ChargePeriodEnd,EffectiveCost,BilledCost,ChargeCategory,ConsumedQuantity,ConsumedUnit,SubAccountName,Tags
2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,2,2,Usage,1,Hours,acme,"{""project"":""search"",""env"":7,""team"":""mei""}"
2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,2,2,Usage,1,Hours,acme,
`
	for _, c := range []struct {
		text string
		by   []string
		want [2][]string
	}{
		{own, []string{"project", "env", "tenant", "account", "class"}, [2][]string{{"search", "prod", "mei", "acme", "training"}, {"", "", "", "", ""}}},
		{bill, []string{"project", "env", "tenant", "account"}, [2][]string{{"search", "7", "mei", "acme"}, {"", "", "acme", "acme"}}},
		{bill, nil, [2][]string{}},
	} {
		rec, rep, err := ReadUse("use.csv", strings.NewReader(c.text), UseOptions{By: c.by})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			for k, key := range c.by {
				if got := rec.Lines[i].Tags.Value(key); got != want[k] {
					t.Errorf("%s, line %d: %s is %q, want %q", rep.Format, i+1, key, got, want[k])
				}
			}
			if len(c.by) == 0 && rec.Lines[i].Tags != nil {
				t.Error("tags that nobody asked for")
			}
		}
		if len(rep.Unknown) > 0 && len(c.by) > 0 {
			t.Errorf("%s: a column that is asked for is reported as unknown: %v", rep.Format, rep.Unknown)
		}
	}
	for _, text := range []string{own, bill} {
		_, _, err := ReadUse("use.csv", strings.NewReader(text), UseOptions{By: []string{"projct"}})
		var bad *capcli.RequestError
		if !errors.As(err, &bad) || bad.Field != "by" || !strings.Contains(bad.Text, `no "projct"`) {
			t.Errorf("got %v, want an error that says that there is no such tag", err)
		}
	}
}

// Rows takes every row of a bill, use or not, and the record stays empty.
func TestUseRows(t *testing.T) {
	n := 0
	rec, _, err := ReadUse("bill.csv", strings.NewReader(bigBill(3)), UseOptions{By: []string{"tenant"}, Rows: func(*focus.Row, *capcli.Tags) error { n++; return nil }})
	if err != nil || len(rec.Lines) != 0 || n == 0 {
		t.Errorf("%d rows, %d lines, %v", n, len(rec.Lines), err)
	}
}
