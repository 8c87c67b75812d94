package billing

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/focus"
)

const useFile = `start,seconds,units,instance_type,gpu_model,region,tenant,account,job,kind,price,spot_price
2027-01-01T00:15:00Z,5400,2.5,p5.48xlarge,H100,us-east-1,research,a1,j1,on_demand,98.32,
2027-01-01T02:00:00Z,60,1,p5.48xlarge,H100,us-east-1,product,a2,j2,spot,98.32,20.5
`

func readUse(t *testing.T, text string, o UseOptions) (*UseRecord, *UseReport) {
	t.Helper()
	rec, rep, err := ReadUse("use.csv", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return rec, rep
}

func TestReadUse(t *testing.T) {
	rec, rep := readUse(t, useFile, UseOptions{})
	want := UseLine{
		Start: 1798762500, Seconds: 5400, Units: 2500, Price: 98_320_000, Account: "a1", Tenant: "research", Job: "j1",
		SKU: SKU{Region: "us-east-1", Family: "p5", Size: "48xlarge", GPUModel: "H100"},
	}
	if rec.Lines[0] != want || rec.Lines[1].Kind != UseSpot || rec.Lines[1].Spot != 20_500_000 {
		t.Errorf("got %+v", rec.Lines)
	}
	if rec.From.String() != "2027-01-01T00:00:00Z" || rec.To.String() != "2027-01-01T03:00:00Z" || rep.Lines != 2 {
		t.Errorf("window %s to %s, %d lines", rec.From, rec.To, rep.Lines)
	}
	rec, rep = readUse(t, "start,end,gpus,odd\n1798762500,1798762501,1,x\n", UseOptions{Price: 2})
	if rec.Lines[0].Seconds != 1 || rec.Lines[0].Price != 2 || len(rep.Unknown) != 1 || rep.Unknown[0] != "odd" {
		t.Errorf("got %+v, %+v", rec.Lines[0], rep)
	}
}

func TestReadUseRefusesWithThePlace(t *testing.T) {
	tests := []struct {
		name, old, new string
		line           int
		field, text    string
	}{
		{"start", "2027-01-01T00:15:00Z", "2027-01-01T00:15:00", 2, "start", "expected an instant"},
		{"seconds", ",5400,", ",-1,", 2, "seconds", "expected whole seconds"},
		{"no seconds", ",5400,", ",,", 2, "seconds", "found \"\""},
		{"units", ",2.5,", ",0,", 2, "units", "more than 0"},
		{"units exact", ",2.5,", ",2.5001,", 2, "units", "three decimals"},
		{"many units", ",2.5,", ",1e12,", 2, "units", "more than a billion"},
		{"kind", ",spot,", ",spots,", 3, "kind", "expected on_demand, spot or reserved"},
		{"reserved", ",spot,", ",reserved,", 3, "capacity", "names no capacity"},
		{"price", "98.32,\n", "0,\n", 2, "price", "above 0"},
		{"no price", "98.32,\n", ",\n", 2, "price", "found nothing"},
		{"columns", "start,seconds", "begin,seconds", 1, "", "expected the columns start and seconds"},
		{"empty", useFile[strings.Index(useFile, "\n")+1:], "", 1, "", "only a header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(useFile, tt.old, tt.new, 1)
			_, _, err := ReadUse("use.csv", strings.NewReader(text), UseOptions{})
			var in *capcli.InputError
			if !errors.As(err, &in) || in.Line != tt.line || in.Field != tt.field || !strings.Contains(in.Text, tt.text) {
				t.Errorf("got %v, want line %d: %s: … %s", err, tt.line, tt.field, tt.text)
			}
		})
	}
	_, _, err := ReadUse("use.csv", strings.NewReader("start,seconds,price,currency\n0,1,1,USD\n0,1,1,EUR\n"), UseOptions{})
	if err == nil || !strings.Contains(err.Error(), "expected USD as before") {
		t.Errorf("mixed currencies: got %v", err)
	}
}

// A bill in FOCUS becomes use at list prices, commitments undone, whatever the
// unit of its quantities.
func TestReadUseFromFOCUS(t *testing.T) {
	const bill = `BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,PricingCategory,BilledCost,EffectiveCost,ListCost,ListUnitPrice,ConsumedQuantity,ConsumedUnit,CommitmentDiscountId,CommitmentDiscountStatus,SkuPriceDetails,SubAccountId,Tags
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Purchase,Standard,7,0,,,,,c,,,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Committed,0,6,10,10,1,Hours,c,Used,"{""InstanceType"":""p5.48xlarge""}",s1,"{""team"":""research""}"
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Committed,0,1,,,,,c,Unused,,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Standard,12.5,12.5,12.5,,75,Minutes,,,,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Dynamic,1.5,1.5,5,10,1800,Seconds,,,,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Standard,3,3,3,,5,GB-Hours,,,,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Tax,,1,1,,,,,,,,,
`
	rec, rep := readUse(t, bill, UseOptions{})
	var hours [3]capcli.GPUTime
	for _, l := range rec.Lines {
		i := 1
		switch {
		case l.Kind == UseSpot:
			i = 2
			if l.Spot != 3_000_000 {
				t.Errorf("spot price: got %s", l.Spot.Decimal())
			}
		case l.SKU.Family == "p5":
			i = 0
			if l.Tenant != "research" || l.Account != "s1" || l.SKU.Size != "48xlarge" {
				t.Errorf("got %+v", l)
			}
		}
		hours[i] += capcli.GPUTime(l.Units * int64(l.Seconds))
		if l.Price != 10_000_000 {
			t.Errorf("list price: got %s", l.Price.Decimal())
		}
	}
	if hours != [3]capcli.GPUTime{3_600_000, 4_500_000, 1_800_000} {
		t.Errorf("got %v thousandths of unit-seconds", hours)
	}
	if rep.Paid.String() != "21" || rep.Rows != 7 {
		t.Errorf("paid %s for %d rows: %v", rep.Paid, rep.Rows, rep.Notes)
	}
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Bill(&Portfolio{}, ByHour)
	if err != nil || b.Total.Effective != 24_000_000 { // 10 + 12.5 + spot 1.5: without commitments it costs the list price
		t.Errorf("got %v, %v", b.Total, err)
	}
}

// Time is never made or lost in cutting a quantity into units and seconds.
func TestFocusUseKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Uint64Range(1, 1e12).Draw(t, "thousandths of unit-seconds")
		length := capcli.Seconds(rapid.Int64Range(1, 1e6).Draw(t, "seconds"))
		f := &focusUse{rec: &UseRecord{}, rep: &UseReport{}}
		if err := f.put(&capcli.Sheet{}, UseLine{Seconds: length}, focus.NewAmount(total, 3), 1); err != nil {
			t.Fatal(err)
		}
		var sum uint64
		for _, l := range f.rec.Lines {
			if l.Seconds > length || l.Units < 1 {
				t.Fatalf("got %+v", l)
			}
			sum += uint64(l.Units) * uint64(l.Seconds)
		}
		if sum != total {
			t.Fatalf("%d thousandths of unit-seconds became %d", total, sum)
		}
	})
}

func TestMatchSpotPricesTakesTheMostExact(t *testing.T) {
	rec := &UseRecord{
		Lines: []UseLine{{Kind: UseSpot, SKU: SKU{Family: "p5", Size: "48xlarge", Region: "r", Zone: "z"}}},
		SpotPrices: []SpotPrice{
			{SKU: SKU{Region: "r"}, Price: 1}, {SKU: SKU{Region: "r", Family: "p5"}, Price: 2}, {SKU: SKU{Region: "q", Family: "p5", Size: "48xlarge"}, Price: 3},
		},
	}
	rec.MatchSpotPrices()
	if len(rec.SpotPrices) != 1 || rec.SpotPrices[0].Price != 2 || rec.SpotPrices[0].SKU != rec.Lines[0].SKU {
		t.Errorf("got %+v", rec.SpotPrices)
	}
}

func FuzzReadUse(f *testing.F) {
	f.Add([]byte(useFile))
	f.Add([]byte(bigBill(2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, rep, err := ReadUse("use.csv", strings.NewReader(string(b)), UseOptions{Price: 1_000_000})
		if err != nil {
			return
		}
		if rep.Lines != int64(len(rec.Lines)) || rep.Lines == 0 || rec.To <= rec.From {
			t.Fatalf("%d lines, reported %d, from %s to %s", len(rec.Lines), rep.Lines, rec.From, rec.To)
		}
		for _, l := range rec.Lines {
			if l.Units <= 0 || l.Seconds <= 0 || l.Price < 0 || l.Start < rec.From || l.Start+capcli.Time(l.Seconds) > rec.To {
				t.Fatalf("a line that cannot be: %+v", l)
			}
		}
	})
}

func FuzzReadSeries(f *testing.F) {
	f.Add([]byte("zone,timestamp_utc,gco2_per_kwh\nDE,2021-01-01T00:00:00Z,594.78\n"), "DE")
	f.Add([]byte("time,value\n2027-01,1e3\n"), "")
	f.Fuzz(func(t *testing.T, b []byte, zone string) {
		got, err := ReadSeries("s.csv", strings.NewReader(string(b)), zone)
		for i := range got {
			if err != nil || i > 0 && got[i].At <= got[i-1].At {
				t.Fatalf("%v: not in order at %d: %v", err, i, got)
			}
		}
		if prices, err := ReadSpotPrices("s.csv", strings.NewReader(string(b))); err == nil {
			for _, p := range prices {
				if p.Price <= 0 {
					t.Fatalf("a price of %s", p.Price.Decimal())
				}
			}
		}
	})
}
