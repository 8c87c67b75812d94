package prices_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/prices"
)

// Every term of the catalogue does what its seller sells: a discount, or machines.
func TestTermsOfTheCatalogue(t *testing.T) {
	covers, place := capcli.Properties{Covers: true}, capcli.Properties{Guarantees: true, Fenced: true}
	want := map[string]capcli.Properties{
		"aws 1y": covers, "aws block": place, "azure 1y": covers, "azure 3y": covers,
		"gcp 1y": {Covers: true, Guarantees: true}, "gcp 3y": {Covers: true, Guarantees: true},
	}
	for _, q := range prices.Catalogue().Quotes() {
		got := q.Properties()
		name := q.Provider + " " + q.Term
		switch w, known := want[name]; {
		case !q.Committed():
			if got != (capcli.Properties{}) {
				t.Errorf("%s is %+v", q.Key(), got)
			}
		case known && got != w, !known && got != place:
			t.Errorf("%s is %+v", q.Key(), got)
		}
	}
}

// A row says what its term does, for a seller whom we know and one whom we do not, and keeps it in both
// forms of a price file and through an import.
func TestRowsSayWhatTheyDo(t *testing.T) {
	const head = "provider,region,machine,gpu,gpus,term,usd_per_hour,date,source,covers,guarantees,fenced\n"
	for line, want := range map[string]string{
		"acme,x,m,H100,8,1y,16,2026-01-01,c,,,":               "true false false",
		"acme,x,m,H100,8,1y,16,2026-01-01,c,,,true":           "true false true",
		"acme,x,m,H100,8,1y,16,2026-01-01,c,,TRUE,false":      "true true false",
		"oracle,x,m,H100,8,3y,16,2026-01-01,c,,,":             "true false false",
		"coreweave,x,m,H100,8,1y,16,2026-01-01,c,,,":          "false true true",
		"CoreWeave,x,m,H100,8,1y,16,2026-01-01,c,,,false":     "true true false",
		"lambda,x,m,H100,8,6mo,16,2026-01-01,c,false,,false":  "false true false",
		"aws,x,m,H100,8,1y-none,16,2026-01-01,c,,true,":       "true true false",
		"gcp,x,m,H100,8,1y,16,2026-01-01,c,true,false,true":   "true false true",
		"aws,x,m,H100,8,on_demand,16,2026-01-01,c,,,":         "false false false",
		"acme,x,m,H100,8,block,16,2026-01-01,c,,,":            "false true true",
		"vultr,any,m,H100,8,1y-all,16,2026-01-01,c,,false,":   "false false true",
		"nebius,any,m,H100,8,3mo,16,2026-01-01,c,true,,false": "true true false",
	} {
		list, err := prices.Parse("p.csv", []byte(head+line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var csv, yaml bytes.Buffer
		if list.WriteCSV(&csv, func(s string) string { return s }) != nil || list.WriteYAML(&yaml) != nil {
			t.Fatal("it is not written")
		}
		imported, _, err := prices.Import("p.csv", strings.NewReader(head+line+"\n"), prices.ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"p.csv": csv.Bytes(), "p.yaml": yaml.Bytes()} {
			again, err := prices.Parse(name, b)
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, b)
			}
			for _, l := range []*prices.List{list, again, imported} {
				p := l.Quotes()[0].Properties()
				if got := fmt.Sprint(p.Covers, " ", p.Guarantees, " ", p.Fenced); got != want || p.Floats() != (p.Covers && !p.Fenced) {
					t.Errorf("%s: %s, want %s", line, got, want)
				}
			}
		}
	}
	for line, want := range map[string]string{
		"aws,x,m,H100,8,1y,16,2026-01-01,c,yes,,":         "want true or false",
		"aws,x,m,H100,8,on_demand,16,2026-01-01,c,,,true": "leave it out for on_demand",
	} {
		if _, err := prices.Parse("p.csv", []byte(head+line+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
