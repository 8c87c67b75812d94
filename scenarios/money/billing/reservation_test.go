package billing_test

import (
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// odcr is an on-demand capacity reservation of whole units.
func odcr(id string, units int64, from, to capcli.Time, price capcli.Rate) billing.Commitment {
	return billing.Commitment{
		ID: id, Start: day0 + from, End: day0 + to, Scope: billing.Scope{Provider: "aws", Family: "p5", Size: "48xlarge"},
		Product: billing.CapacityReservation{Units: billing.Units(1000 * units), Price: price},
	}
}

func TestCapacityReservations(t *testing.T) {
	p5 := billing.SKU{Provider: "aws", Region: "r", Family: "p5", Size: "48xlarge"}
	dime := usd(t, ".10")
	regional := ri("ri", billing.Scope{Family: "p5", Size: "48xlarge"}, 3, usd(t, ".06"))
	zonal := regional
	zonal.Scope.Zone = "r-a"
	inZone := p5
	inZone.Zone = "r-a"
	targeted := odcr("o", 4, 0, hours, dime)
	targeted.Product = billing.CapacityReservation{Units: 4000, Price: dime, Targeted: true}
	early := odcr("o", 1, 0, hours, dime)
	early.Product = billing.CapacityReservation{Units: 1000, Price: dime, Committed: 7200, WindDown: usd(t, "5")}
	zoned := odcr("o", 4, 0, hours, dime)
	zoned.Scope.Zone = "r-a"
	named := useOn(p5, 1, 0, 3*3600, dime)
	named.Capacity = "o"
	other := useOn(p5, 2, 0, 3600, dime)
	other.Account = "y"
	owned, mine := odcr("o", 4, 0, hours, dime), regional
	owned.Owner, mine.Owner = "x", "x"
	tests := []struct {
		name       string
		lines      []billing.UseLine
		commit     []billing.Commitment
		hours      capcli.Time
		idle, runs string // billed for the unused part, and for use
		total      string // effective
	}{
		{"20 reserved, 15 run", []billing.UseLine{useOn(p5, 15, 0, 3600, dime)}, []billing.Commitment{odcr("o", 20, 0, hours, dime)}, 1, ".5", "1.5", "2"},
		{"24 h 15 min are 24.25 h", nil, []billing.Commitment{odcr("o", 1, 0, 24*hours+900, dime)}, 25, "2.425", "0", "2.425"},
		{"one hour unused, four used, one more after it was cancelled", []billing.UseLine{useOn(p5, 1, 3600, 5*3600, dime)}, []billing.Commitment{odcr("o", 1, 0, 5*hours, dime)}, 6, ".1", ".5", ".6"},
		{"by the second: two run for half an hour beside one reserved", []billing.UseLine{useOn(p5, 2, 0, 1800, dime)}, []billing.Commitment{odcr("o", 1, 0, hours, dime)}, 1, ".05", ".1", ".15"},
		{"two reservations are not filled by the same use", []billing.UseLine{useOn(p5, 3, 0, 3600, dime)}, []billing.Commitment{odcr("a", 2, 0, hours, dime), odcr("b", 2, 0, hours, dime)}, 1, ".1", ".3", ".4"},
		{"use that does not name a targeted one runs beside it", []billing.UseLine{useOn(p5, 1, 0, 3600, dime)}, []billing.Commitment{targeted}, 1, ".4", ".1", ".5"},
		{"regional discounts go to use first, then to the unused part", []billing.UseLine{useOn(p5, 2, 0, 3600, dime)}, []billing.Commitment{odcr("o", 4, 0, hours, dime), regional}, 1, ".1", "0", ".28"},
		{"use of another account goes before the owner's unused part", []billing.UseLine{other}, []billing.Commitment{owned, mine}, 1, ".1", "0", ".28"},
		{"zonal ones do not apply, to what runs in it or to the rest", []billing.UseLine{useOn(inZone, 2, 0, 3600, dime)}, []billing.Commitment{zoned, zonal}, 1, ".2", ".2", ".58"},
		{"zonal ones apply beside it", []billing.UseLine{useOn(inZone, 6, 0, 3600, dime)}, []billing.Commitment{zoned, zonal}, 1, "0", ".4", ".58"},
		{"named, before it begins and after it ends", []billing.UseLine{named}, []billing.Commitment{odcr("o", 1, hours, 2*hours, dime)}, 3, "0", ".3", ".3"},
		{"cancelled before the time it was committed for", nil, []billing.Commitment{early}, 1, "5.1", "0", "5.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := &billing.UseRecord{From: day0, To: day0 + tt.hours*hours, Lines: tt.lines}
			b := billOf(t, rec, &billing.Portfolio{Commitments: tt.commit}, billing.ByHour)
			var idle, runs capcli.USD
			for _, r := range b.Rows {
				if strings.HasPrefix(tt.name, "named") && (r.ReservationStatus == billing.Used) != (r.Start == day0+hours) {
					t.Errorf("the reservation is %s from %s", r.ReservationStatus, r.Start)
				}
				switch {
				case r.Category == billing.Purchase:
				case r.ReservationStatus == billing.Unused, r.Reservation != "" && r.ReservationStatus == billing.NoStatus:
					idle += r.BilledCost
				default:
					runs += r.BilledCost
				}
			}
			if want := usd(t, tt.idle); idle != want {
				t.Errorf("the unused part cost %s, want %s", idle.Decimal(), want.Decimal())
			}
			if want := usd(t, tt.runs); runs != want {
				t.Errorf("use cost %s, want %s", runs.Decimal(), want.Decimal())
			}
			if want := usd(t, tt.total); b.Total.Effective != want {
				t.Errorf("all cost %s, want %s", b.Total.Effective.Decimal(), want.Decimal())
			}
		})
	}
}

func TestReservationRowsSayWhatRanInThem(t *testing.T) {
	p5 := billing.SKU{Provider: "aws", Region: "r", Family: "p5", Size: "48xlarge"}
	dime := usd(t, ".10")
	rec := &billing.UseRecord{From: day0, To: day0 + hours, Lines: []billing.UseLine{useOn(p5, 3, 0, 3600, dime)}}
	b := billOf(t, rec, &billing.Portfolio{Commitments: []billing.Commitment{odcr("o", 2, 0, hours, dime)}}, billing.InAll)
	got := map[string]capcli.USD{}
	for _, r := range b.Rows {
		got[r.Reservation+" "+r.ReservationStatus.String()] += r.BilledCost
	}
	if got["o Used"] != 2*dime || got[" "] != dime || len(got) != 2 {
		t.Errorf("rows by reservation are %v, want 0.20 in o and 0.10 outside", got)
	}
}

func TestCapacityBlocks(t *testing.T) {
	const day = 24 * hours
	p5 := billing.SKU{Provider: "aws", Family: "p5", Size: "48xlarge"}
	block := billing.Commitment{
		ID: "cb", Start: day0, End: day0 + day, Fees: billing.Fees{Upfront: usd(t, "960")},
		Product: billing.CapacityBlock{Units: 4000, EndsEarly: billing.BlockEndsEarly},
	}
	line := useOn(p5, 4, 0, 24*3600-1800, usd(t, "98.32"))
	line.Kind, line.Capacity = billing.UseReserved, "cb"
	od := useOn(p5, 1, 0, 3600, usd(t, "98.32"))
	sp := plan("sp", usd(t, "50"), size("48xlarge", usd(t, "50")))
	rec := &billing.UseRecord{From: day0, To: day0 + day, Lines: []billing.UseLine{line, od}}
	b := billOf(t, rec, &billing.Portfolio{Commitments: []billing.Commitment{block, sp}}, billing.InAll)
	// The last half hour of 24 h is paid for and cannot be used: 1/48 of 960.
	if got := b.Commitments[0]; got.ID != "cb" || got.Used != usd(t, "940") || got.Unused != usd(t, "20") || got.Billed != usd(t, "960") {
		t.Errorf("the block is %+v, want 940 used and 20 not", got)
	}
	// The plan covers 50/50 of one instance-hour outside the block only.
	if b.Total.Effective != usd(t, "1010") || b.Total.Billed != usd(t, "1010") {
		t.Errorf("all cost %s, paid %s; want 1010", b.Total.Effective, b.Total.Billed)
	}
	// What goes on in the last half hour is no use of the block: 4 x 0.5 h on demand.
	line.Seconds += 1800
	b = billOf(t, &billing.UseRecord{From: day0, To: day0 + day, Lines: []billing.UseLine{line}}, &billing.Portfolio{Commitments: []billing.Commitment{block}}, billing.InAll)
	if want := usd(t, "960") + 2*line.Price; b.Total.Effective != want {
		t.Errorf("with use to the end it costs %s, want %s", b.Total.Effective, want)
	}
	for _, tt := range []struct {
		name string
		days capcli.Time
		rule billing.BlockRule
		good bool
	}{
		{"a day", 1, billing.BlockAWS, true},
		{"14 days", 14, billing.BlockAWS, true},
		{"15 days", 15, billing.BlockAWS, false},
		{"three weeks", 21, billing.BlockAWS, true},
		{"26 weeks", 182, billing.BlockAWS, true},
		{"27 weeks", 189, billing.BlockAWS, false},
		{"15 days in calendar mode", 15, billing.BlockCalendar, true},
		{"91 days in calendar mode", 91, billing.BlockCalendar, false},
		{"any length", 400, billing.BlockAny, true},
	} {
		c := block
		c.End = day0 + tt.days*day
		c.Product = billing.CapacityBlock{Units: 4000, EndsEarly: billing.BlockEndsEarly, Rule: tt.rule}
		if err := (&billing.Portfolio{Commitments: []billing.Commitment{c}}).Check(); (err == nil) != tt.good {
			t.Errorf("%s: error %v, want good %v", tt.name, err, tt.good)
		}
	}
}

func TestOwnedIsWrittenOffStraightLine(t *testing.T) {
	const year = 365 * 24 * hours
	// 30,000 dollars over four years, worth 2,000 then; 1 kW at a PUE of 1.2 and
	// 10 cents: 0.12 an hour; 0.08 an hour for space. Eight units.
	m := billing.Machine{Capital: usd(t, "30000"), Residual: usd(t, "2000"), Watts: 1000, PUE: 1200, Energy: usd(t, ".10"), Space: usd(t, ".08")}
	fees, err := m.Fees(8000)
	if err != nil {
		t.Fatal(err)
	}
	if want := (billing.Fees{Upfront: usd(t, "240000"), Residual: usd(t, "16000"), Hourly: usd(t, "1.6")}); fees != want {
		t.Fatalf("fees are %+v, want %+v", fees, want)
	}
	c := billing.Commitment{ID: "own", Start: day0, End: day0 + 4*year, Fees: fees, Product: billing.Owned{Units: 8000}}
	line := useOn(billing.SKU{GPUModel: "H100"}, 4, 0, capcli.Seconds(4*year), usd(t, "4"))
	line.Kind, line.Capacity = billing.UseReserved, "own"
	rec := &billing.UseRecord{From: day0, To: day0 + 4*year, Lines: []billing.UseLine{line}}
	b := billOf(t, rec, &billing.Portfolio{Commitments: []billing.Commitment{c}}, billing.InAll)
	// 224,000 + 1.6 x 35,040 h = 280,064, half of it used.
	if got := b.Commitments[0]; got.Used != usd(t, "140032") || got.Unused != usd(t, "140032") || got.Billed != usd(t, "280064") || *got.Share != 0.5 {
		t.Errorf("owned is %+v, want 140032 used and as much not", got)
	}
	unexpired, unpaid, err := c.Unexpired(day0 + 2*year)
	if err != nil || unexpired != usd(t, "140032") || unpaid != usd(t, "28032") {
		t.Errorf("after two years %s is unexpired and %s unpaid (%v), want 140032 and the hourly 28032", unexpired.Decimal(), unpaid.Decimal(), err)
	}
}
