package supply

import (
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
)

// Lead times have the stated median and percentile, and the n-th is the same in whatever order they are
// asked for.
func TestLeadTimes(t *testing.T) {
	lead := LogNormalLead(180, 720, capcli.Seed(3).Stream("lead"))
	var all []capcli.Seconds
	for n := range int64(20001) {
		all = append(all, lead(n))
	}
	if lead(7) != all[7] || lead(19000) != all[19000] {
		t.Error("the lead time of an order changes")
	}
	slices.Sort(all)
	for _, q := range []struct {
		at   int
		want float64
	}{{10000, 180}, {19000, 720}} {
		if got := float64(all[q.at]); math.Abs(got/q.want-1) > 0.04 {
			t.Errorf("value %d is %g s, want %g s", q.at, got, q.want)
		}
	}
	of := MeasuredLead([]capcli.Seconds{10, 20, 90}, capcli.Seed(3).Stream("lead"))
	count := map[capcli.Seconds]int{}
	for n := range int64(30000) {
		count[of(n)]++
	}
	for _, v := range []capcli.Seconds{10, 20, 90} {
		if count[v] < 9700 || count[v] > 10300 {
			t.Errorf("%d s came %d times of 30000", v, count[v])
		}
	}
}

// Shortages hold for the stated share of the time.
func TestShortages(t *testing.T) {
	short := NewShortage(3*capcli.Hour, capcli.Hour, capcli.Seed(1).Stream("short"))
	had, next := 0, capcli.Seconds(0)
	const steps = 2_000_000
	for i := range steps {
		at := capcli.Seconds(i) * 60
		n, ends := short.Available(at, 5, 8)
		if n != 0 && n != 8 || ends <= at || at < next && ends != next {
			t.Fatalf("at %d: %d nodes until %d, before until %d", at, n, ends, next)
		}
		next = ends
		had += n
	}
	if share := float64(had) / 8 / steps; math.Abs(share-0.75) > 0.01 {
		t.Errorf("nodes are to be had %.3f of the time, want 0.75", share)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	var shares [24]float64
	shares[9], shares[10] = 1, 0.5
	start := capcli.TimeOf(time.Date(2027, 1, 4, 0, 30, 0, 0, time.UTC))
	byHour := NewHourlyShortage(shares, start, berlin, capcli.Seed(1).Stream("short"))
	refused := 0
	for day := range capcli.Seconds(1000) {
		nine := day*capcli.Day + 8*capcli.Hour - 1800 // 9:00 in Berlin in winter
		if now := (start + capcli.Time(nine)).Std().In(berlin).Hour(); now == 9 {
			if n, next := byHour.Available(nine, 0, 4); n != 0 || next != nine+capcli.Hour {
				t.Fatalf("at nine %d nodes until %d", n, next)
			}
			if n, _ := byHour.Available(nine+capcli.Hour, 0, 4); n == 0 {
				refused++
			}
			if n, _ := byHour.Available(nine-1, 0, 4); n != 4 {
				t.Fatal("short before nine")
			}
		}
	}
	if refused < 150 || refused > 230 { // of 377 days in winter, half
		t.Errorf("at ten %d days were short", refused)
	}
	recorded := NewRecordedShortage(Availability{Gap: 100, Counts: []int{0, 3, 16}}, 32, Following{Scale: true, Offset: 50})
	for _, x := range []struct {
		at      capcli.Seconds
		have, n int
		want    int
		next    capcli.Seconds
	}{{0, 0, 4, 0, 50}, {50, 0, 4, 4, 150}, {60, 5, 4, 1, 150}, {60, 9, 4, 0, 150}, {150, 9, 99, 23, 150}, {9999, 32, 1, 0, 9999}} {
		if n, next := recorded.Available(x.at, x.have, x.n); n != x.want || next != x.next {
			t.Errorf("at %d with %d: %d until %d, want %d until %d", x.at, x.have, n, next, x.want, x.next)
		}
	}
}
