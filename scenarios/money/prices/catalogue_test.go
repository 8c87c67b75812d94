package prices

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
)

func TestCatalogueIsSane(t *testing.T) {
	c := Catalogue()
	checkPrices(t, c)
	if n := len(c.rows); n < 200 || n > 500 {
		t.Errorf("the catalogue has %d prices; it is a selection of a few hundred", n)
	}
	have := map[string]bool{}
	byTerm := map[string]map[string]capcli.USD{} // latest, by machine
	for _, q := range c.Quotes() {
		have[q.Provider], have[q.GPU], have[q.Term] = true, true, true
		m := q.machineKey()
		if byTerm[m] == nil {
			byTerm[m] = map[string]capcli.USD{}
		}
		byTerm[m][q.Term] = q.Hourly
	}
	for _, want := range strings.Fields("aws gcp azure nebius H100 H200 B200 A100 A100-80GB L4 L40S T4 V100 A10 MI300X on_demand spot block 1y 3y") {
		if !have[want] {
			t.Errorf("the catalogue has no %s", want)
		}
	}
	for m, p := range byTerm {
		for _, x := range [][2]string{{"spot", "on_demand"}, {"1y", "on_demand"}, {"3y", "1y"}} {
			less, okLess := p[x[0]]
			more, okMore := p[x[1]]
			if okLess && okMore && less >= more {
				t.Errorf("%s: %s costs %s, %s %s", m, x[0], less.Decimal(), x[1], more.Decimal())
			}
			if okLess && okMore && less*20 < more {
				t.Errorf("%s: %s costs %s and %s %s: a slip?", m, x[0], less.Decimal(), x[1], more.Decimal())
			}
		}
	}
}

// Spot is said to be 60 to 90 % off. Of the catalogue's latest prices it is 40 to 89 %, 59 % in the median.
func TestSpotDiscounts(t *testing.T) {
	latest := map[string]map[string]float64{} // by machine and term
	for _, q := range Catalogue().Quotes() {
		if m := q.machineKey(); latest[m] == nil {
			latest[m] = map[string]float64{}
		}
		latest[q.machineKey()][q.Term] = q.Hourly.Float()
	}
	var off []float64
	said := 0
	for _, p := range latest {
		if p["spot"] > 0 && p["on_demand"] > 0 {
			off = append(off, 1-p["spot"]/p["on_demand"])
			if off[len(off)-1] >= 0.6 {
				said++
			}
		}
	}
	slices.Sort(off)
	n := len(off)
	if lo, mid, hi := off[0], (off[(n-1)/2]+off[n/2])/2, off[n-1]; math.Abs(lo-0.400) > 5e-4 || math.Abs(mid-0.585) > 5e-4 || math.Abs(hi-0.890) > 5e-4 || said != 35 || n != 88 {
		t.Errorf("spot is %.3f to %.3f off, %.3f in the median, and 0.6 or more on %d of %d machines", lo, hi, mid, said, n)
	}
}

// The upstream table has no true committed prices of a2-ultragpu before
// September 2024.
func TestCatalogueHasNoKnownErrors(t *testing.T) {
	for _, r := range Catalogue().rows {
		if strings.HasPrefix(r.Machine, "a2-ultragpu") && r.Committed() && r.Date < day(t, "2024-09-01") {
			t.Errorf("%s of %s", r.Key(), r.Date)
		}
	}
}

// Every price of a data set that is at hand is the data set's.
func TestCatalogueIsTheFacts(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "prices")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the data sets are not here: %v", err)
	}
	facts := map[string][]*big.Rat{} // key and date: prices of a machine for an hour
	note := func(key, date, amount, per string) {
		a, ok := new(big.Rat).SetString(amount)
		if !ok {
			return
		}
		if per != "" {
			d, _ := new(big.Rat).SetString(per)
			a.Quo(a, d)
		}
		facts[strings.ToLower(key)+" "+date] = append(facts[strings.ToLower(key)+" "+date], a)
	}
	for _, file := range []string{"gcp_gpu_prices_latest.csv", "gcp_gpu_price_history.csv.gz"} {
		eachRow(t, filepath.Join(dir, file), func(r map[string]string) {
			k := "gcp/" + r["region"] + "/" + r["machine_type"] + "/"
			note(k+"on_demand", r["date"], r["hour_ondemand"], "")
			note(k+"spot", r["date"], r["hour_spot"], "")
			note(k+"1y", r["date"], r["month_1y"], "730")
			note(k+"3y", r["date"], r["month_3y"], "730")
		})
	}
	for _, file := range []string{"aws_gpu_ondemand_latest.csv", "aws_gpu_ondemand_price_history_clean.csv"} {
		eachRow(t, filepath.Join(dir, file), func(r map[string]string) {
			note("aws/"+r["region"]+"/"+r["instance_type"]+"/on_demand", r["date"], r["hour_ondemand_usd"], "")
		})
	}
	eachRow(t, filepath.Join(dir, "aws_gpu_ri1y_noupfront_vantage.csv"), func(r map[string]string) {
		k := "aws/" + r["region"] + "/" + r["instance_type"] + "/"
		note(k+"on_demand", "2026-01-21", r["ondemand_hour"], "")
		note(k+"1y-none", "2026-01-21", r["ri_1y_std_noupfront_hour"], "")
	})
	for provider, file := range map[string]string{"aws": "aws_a100_h100_ondemand_spot_by_az.csv", "azure": "azure_gpu_ondemand_spot.csv", "nebius": "nebius_gpu_ondemand_spot.csv"} {
		eachRow(t, filepath.Join(dir, file), func(r map[string]string) {
			k := provider + "/" + r["region"] + "/" + r["instance_type"] + "/"
			note(k+"on_demand", "2025-06-23", r["price_ondemand_hour"], "")
			note(k+"spot", "2025-06-23", r["price_spot_hour"], "")
		})
	}
	eachRow(t, filepath.Join(dir, "capacity_blocks_2024q4.csv"), func(r map[string]string) {
		note("aws/"+r["region"]+"/"+r["instance_type"]+"/block", "2024-10-01", r["effective_instance_hour_usd"], "")
	})
	checked := 0
	for _, r := range Catalogue().rows {
		if strings.Contains(r.Source, "second hand") {
			continue
		}
		found := false
		for _, f := range facts[r.Key()+" "+r.Date.Std().Format("2006-01-02")] {
			found = found || roundedMillionths(f) == r.Hourly
		}
		checked++
		if !found {
			t.Errorf("%s of %s costs %s, which is in no data set", r.Key(), r.Date, r.Hourly.Decimal())
		}
	}
	if checked < 300 {
		t.Errorf("held %d prices against the data sets, want nearly all", checked)
	}
}

// roundedMillionths rounds half up to the millionth.
func roundedMillionths(r *big.Rat) capcli.USD {
	m := new(big.Rat).Mul(r, big.NewRat(1_000_000, 1))
	m.Add(m, big.NewRat(1, 2))
	return capcli.USD(new(big.Int).Quo(m.Num(), m.Denom()).Int64())
}

func eachRow(t *testing.T, file string, each func(map[string]string)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, h := range all[0] {
			row[h] = cells[i]
		}
		each(row)
	}
}
