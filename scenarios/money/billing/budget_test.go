package billing

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/focus"
)

func parseTime(text string, t *testing.T) capcli.Time {
	t.Helper()
	at := focus.ParseInstant(text, time.RFC3339)
	if !at.IsKnown() {
		t.Fatal(text)
	}
	return at
}

// January costs $310, $10 a day, evenly; February $28 on its first day. By hand,
// of a budget of $100 a month, 80 % is reached after eight days, 100 % after ten,
// 120 % after twelve.
func TestBudgetByHand(t *testing.T) {
	spend := []Spend{
		{Start: jan, End: jan + 31*86400, Tenant: "a", Cost: 155e6},
		{Start: jan, End: jan + 31*86400, Tenant: "b", Cost: 155e6},
		{Start: jan + 31*86400, End: jan + 32*86400, Tenant: "b", Cost: 28e6},
	}
	b := &Budget{Amount: 100e6, Tenants: []TenantBudget{{"b", 180e6}, {"c", 1}}}
	got, err := b.Follow(spend)
	if err != nil {
		t.Fatal(err)
	}
	no := capcli.NoTime
	tenant := "b"
	want := []BudgetLine{
		{"monthly", nil, jan, jan + 31*86400, 100e6, 310e6, 3.1, Alerts{parseTime("2027-01-09T00:00:00Z", t), parseTime("2027-01-11T00:00:00Z", t), parseTime("2027-01-13T00:00:00Z", t)}},
		{"monthly", &tenant, jan, jan + 31*86400, 180e6, 155e6, 155. / 180, Alerts{parseTime("2027-01-29T19:12:00Z", t), no, no}},
		{"monthly", nil, jan + 31*86400, jan + 59*86400, 100e6, 28e6, 0.28, Alerts{no, no, no}},
		{"monthly", &tenant, jan + 31*86400, jan + 59*86400, 180e6, 28e6, 28. / 180, Alerts{no, no, no}},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d lines: %+v", len(got), got)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("line %d: got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	// The whole year in quarters: January and February are the first.
	b = &Budget{Every: Quarterly, Amount: 169e6}
	if got, err = b.Follow(spend); err != nil || len(got) != 1 || got[0].Spent != 338e6 || got[0].At120 != parseTime("2027-01-21T06:43:12Z", t) {
		t.Errorf("got %+v, %v", got, err) // 202.8 dollars at 10 a day
	}
	// What is paid at one instant crosses everything there.
	b = &Budget{Every: Yearly, Amount: 10}
	if got, err = b.Follow([]Spend{{Start: jan + 5, End: jan + 5, Cost: 12}}); err != nil || got[0].Alerts != (Alerts{jan + 5, jan + 5, jan + 5}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// However spending is cut, all of it is in some period, and an alert stands
// exactly where the part of the budget was reached.
func TestBudgetKeepsEveryCent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spend []Spend
		start, sum := jan, capcli.USD(0)
		for range rapid.IntRange(1, 8).Draw(t, "costs") {
			s := Spend{Start: start, End: start + capcli.Time(rapid.Int64Range(0, 1e7).Draw(t, "length")), Cost: capcli.USD(rapid.Int64Range(0, 1e12).Draw(t, "cost"))}
			start, sum = max(s.End, start+1), sum+s.Cost
			spend = append(spend, s)
		}
		b := &Budget{Every: rapid.SampledFrom([]BudgetPeriod{Monthly, Quarterly, Yearly}).Draw(t, "every"), Amount: capcli.USD(rapid.Int64Range(1, 1e12).Draw(t, "amount"))}
		lines, err := b.Follow(spend)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			sum -= l.Spent
			alerts := l.list()
			for i, percent := range alertPercents {
				limit, _ := mulDiv(int64(l.Budget), int64(percent), 100)
				if alerts[i].IsKnown() != (l.Spent >= capcli.USD(limit)) {
					t.Fatalf("%d%%: %+v", percent, l)
				}
				if alerts[i].IsKnown() && (*alerts[i] < l.Start || *alerts[i] >= l.End || i > 0 && *alerts[i] < *alerts[i-1]) {
					t.Fatalf("%+v", l)
				}
			}
		}
		if sum != 0 {
			t.Fatalf("%s is in no period", sum.Decimal())
		}
	})
}

func TestApprovals(t *testing.T) {
	a := Approvals{{10, "team lead"}, {50, "head of department"}, {200, "CFO"}, {0, "board"}}
	for gpus, want := range map[int64]string{
		0: "nothing is bought: nobody must sign", 1: "1 GPU: team lead must sign (below 10)", 9: "9 GPUs: team lead must sign (below 10)",
		10: "10 GPUs: head of department must sign (below 50)", 49: "49 GPUs: head of department must sign (below 50)",
		50: "50 GPUs: CFO must sign (below 200)", 199: "199 GPUs: CFO must sign (below 200)", 200: "200 GPUs: board must sign", 1e6: "1000000 GPUs: board must sign",
	} {
		if got := a.Say(gpus); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := a[:1].Say(10); got != "10 GPUs: nobody may sign for that many (the last tier is below 10)" {
		t.Errorf("got %q", got)
	}
	for _, bad := range []Approvals{{{10, ""}}, {{50, "a"}, {10, "b"}}, {{0, "a"}, {10, "b"}}, {{10, "a"}, {10, "b"}}, {{-1, "a"}}} {
		if bad.Check() == "" {
			t.Errorf("%v: nothing is found wrong", bad)
		}
	}
	if why := a.Check(); why != "" {
		t.Errorf("got %q", why)
	}
}
