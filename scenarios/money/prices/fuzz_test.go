package prices

import (
	"errors"
	"regexp"
	"testing"

	"capcli/scenarios/strict"
)

// FuzzPrices: whatever the bytes, either faults that point into the file, or
// prices that are in their limits and found by their own keys.
func FuzzPrices(f *testing.F) {
	f.Add("p.csv", []byte(fileHead+"a,b,c,H100,8,1y,none,8,1,,USD,2026-10-01,x\n# \n\"a\",b,c,H100,8,spot,,0,0,true,,2026-10-02,y\n"))
	f.Add("p.yaml", []byte("capcli: prices/v1\nprices: [{provider: a, region: b, machine: c, gpu: H100, gpus: 8, term: 12mo, usd_per_gpu_hour: 2, date: 2026-10-01, source: x}]\n"))
	f.Add("p", []byte("capcli: prices/v1\n"))
	f.Add("p.csv", catalogueText[:4000])
	f.Fuzz(func(t *testing.T, file string, b []byte) {
		p, err := Parse(file, b)
		if err != nil {
			var f *strict.Faults
			if !errors.As(err, &f) || len(f.List) == 0 || f.Error() == "" {
				t.Fatalf("got %v, want faults", err)
			}
			lines := 1 + len(newLine.FindAllIndex(b, -1))
			for _, x := range f.List {
				if x.Text == "" || x.Line < 0 || x.Line > lines || (x.Line > 0 && x.Col < 1) {
					t.Errorf("fault %+v points nowhere in %d lines", x, lines)
				}
			}
			return
		}
		if len(p.rows) == 0 {
			t.Fatal("a price file without prices")
		}
		checkPrices(t, p)
	})
}

// checkPrices holds what every list of prices must.
func checkPrices(t *testing.T, p *List) {
	t.Helper()
	for i, r := range p.rows {
		if r.Hourly < 0 || (r.Hourly == 0) != r.Free || r.PerGPU() > Dearest || r.GPUs < 1 || r.Source == "" || !r.Date.IsKnown() {
			t.Errorf("price %+v is out of its limits", r)
		}
		if off := int64(r.PerGPU())*int64(r.GPUs) - int64(r.Hourly); off > int64(r.GPUs) || off < -int64(r.GPUs) {
			t.Errorf("%s: %s for %d GPUs is %s for one", r.Key(), r.Hourly.Decimal(), r.GPUs, r.PerGPU().Decimal())
		}
		if i > 0 && (p.rows[i-1].Key() > r.Key() || p.rows[i-1].Key() == r.Key() && p.rows[i-1].Date >= r.Date) {
			t.Errorf("%s is not in order", r.Key())
		}
	}
	for _, q := range p.Quotes() {
		if got, err := p.Find(q.Key()); err != nil || got.Hourly != q.Hourly || got.Key() != q.Key() {
			t.Errorf("%s finds %s, %v", q.Key(), got.Key(), err)
		}
	}
}

var newLine = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")
