package prices

import (
	"errors"
	"strings"
	"testing"
	"time"

	"capcli"
)

// rows of a price file, in the order of the fixed head.
const fileHead = "provider,region,machine,gpu,gpus,term,payment,usd_per_hour,usd_per_gpu_hour,free,currency,date,source\n"

func TestCatalogueFinds(t *testing.T) {
	for _, x := range []struct{ key, want, perGPU, machine string }{
		{"gcp/us-central1/a3-highgpu-8g/on_demand", "gcp/us-central1/a3-highgpu-8g/on_demand", "11.06125", "88.49"},
		{"gcp/us-central1/a3-highgpu-8g/1y", "gcp/us-central1/a3-highgpu-8g/1y", "7.672959", "61.383672"},
		{"gcp/us-central1/a3-highgpu-8g/3y", "gcp/us-central1/a3-highgpu-8g/3y", "4.858048", "38.864381"},
		{"gcp/us-central1/a3-highgpu-8g/36mo", "gcp/us-central1/a3-highgpu-8g/3y", "4.858048", "38.864381"},
		{"gcp/us-central1/h100/on_demand", "gcp/us-central1/a3-highgpu-8g/on_demand", "11.06125", "88.49"},
		{"GCP/us-central1/A3-HIGHGPU-8g/1y-none", "gcp/us-central1/a3-highgpu-8g/1y", "7.672959", "61.383672"},
		{"aws/us-east-1/p5.48xlarge/od", "aws/us-east-1/p5.48xlarge/on_demand", "6.88", "55.04"},
		{"aws/us-east-1/p4d.24xlarge/1y", "aws/us-east-1/p4d.24xlarge/1y-none", "1.740137", "13.921094"},
		{"aws/us-east-1/p4d.24xlarge/1y-none", "aws/us-east-1/p4d.24xlarge/1y-none", "1.740137", "13.921094"},
		{"aws/us-east-1/p5.48xlarge/block", "aws/us-east-1/p5.48xlarge/block", "4.91625", "39.33"},
	} {
		q, err := Catalogue().Find(x.key)
		if err != nil {
			t.Errorf("%s: %v", x.key, err)
			continue
		}
		if q.Key() != x.want || q.PerGPU().Decimal() != x.perGPU || q.Hourly.Decimal() != x.machine {
			t.Errorf("%s is %s at %s, %s a GPU; want %s at %s, %s", x.key, q.Key(), q.Hourly.Decimal(), q.PerGPU().Decimal(), x.want, x.machine, x.perGPU)
		}
	}
}

func TestCatalogueSaysWhatIsMissing(t *testing.T) {
	for _, x := range []struct{ key, want string }{
		{"gpc/us-central1/a3-highgpu-8g/1y", `did you mean "gcp/us-central1/a3-highgpu-8g/1y"?`},
		{"gcp/us-centrall/a3-highgpu-8g/1y", `did you mean "gcp/us-central1/a3-highgpu-8g/1y"?`},
		{"gcp/us-central1/a3-highgpu-8h/1y", `did you mean "gcp/us-central1/a3-highgpu-8g/1y"?`},
		{"gcp/us-central1/a3-highgpu-8g/2y", `did you mean "gcp/us-central1/a3-highgpu-8g/1y"?`},
		{"gcp/us-central1/h1000/1y", `did you mean "gcp/us-central1/h100/1y"?`},
		{"gcp/us-central1/a3-highgpu-8g", "want provider/region/machine/term"},
		{"gcp/us-central1/l4/1y", "name the machine"},
		{"oracle/x/y/z", "have aws, azure"},
		{"", "want provider/region/machine/term"},
		{"gcp/us-central1/a3-highgpu-8g/soon", "have 1y, 3y, on_demand, spot"},
	} {
		_, err := Catalogue().Find(x.key)
		if unknown := (*capcli.UnknownError)(nil); !errors.As(err, &unknown) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want …%s…", x.key, err, x.want)
		}
	}
}

// The last price at or before an instant holds.
func TestQuoteAt(t *testing.T) {
	q, err := Catalogue().Find("aws/us-east-1/p5.48xlarge/on_demand")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ day, want string }{
		{"2020-01-01", "98.32"}, {"2023-08-08", "98.32"}, {"2025-06-22", "98.32"}, {"2025-06-23", "55.04"}, {"2030-01-01", "55.04"},
	} {
		row := q.PriceAt(day(t, x.day))
		if row.Hourly.Decimal() != x.want {
			t.Errorf("on %s: %s, want %s", x.day, row.Hourly.Decimal(), x.want)
		}
	}
}

func TestOwnPricesGoFirst(t *testing.T) {
	own, err := Parse("own.csv", []byte(fileHead+
		"gcp,us-central1,a3-highgpu-8g,H100,8,1y,,40,5,,USD,2026-10-01,contract\n"+
		"acme,dc1,box,H100,4,24mo,partial,,2.5,,,2026-10-01,contract\n"+
		"lab,attic,old,K80,2,on_demand,,0,,true,,2026-10-01,ours\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := own.Override(Catalogue())
	for _, x := range []struct{ key, want string }{
		{"gcp/us-central1/a3-highgpu-8g/1y", "40.00"},
		{"gcp/us-central1/a3-highgpu-8g/3y", "38.864381"},
		{"acme/dc1/h100/2y-partial", "10.00"},
		{"lab/attic/old/on_demand", "0.00"},
	} {
		q, err := all.Find(x.key)
		if err != nil || q.Hourly.Decimal() != x.want {
			t.Errorf("%s: %s, %v; want %s", x.key, q.Hourly.Decimal(), err, x.want)
		}
	}
	if _, err := Catalogue().Find("acme/dc1/box/2y"); err == nil {
		t.Error("own prices came into the catalogue")
	}
}

func TestPriceFilesInYAML(t *testing.T) {
	p, err := Parse("own.yaml", []byte(`capcli: prices/v1
currency: USD
prices:
  - {provider: acme, region: dc1, machine: box, gpu: H100, gpus: 8, term: 3mo, usd_per_gpu_hour: 2.345678, date: 2026-10-01, source: offer of October}
  - {provider: acme, region: dc1, machine: box, gpu: H100, gpus: 8, term: 3mo, usd_per_hour: 16, date: 2027-01-01, source: offer of October}
`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Find("acme/dc1/box/3mo")
	if err != nil || len(q.History) != 2 || q.History[0].Hourly.Decimal() != "18.765424" || q.PerGPU().Decimal() != "2.00" || q.Line != 5 {
		t.Errorf("got %+v, %v", q, err)
	}
}

func TestPriceFilesThatAreWrong(t *testing.T) {
	row := func(s string) string { return fileHead + s + "\n" }
	for _, x := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"head only", fileHead, "no prices"},
		{"binary", "\x00\x01", "not text"},
		{"other columns", "a,b\n1,2\n", "unknown column \"a\""},
		{"a slip", strings.Replace(fileHead, "machine", "machin", 1), `did you mean "machine"?`},
		{"no price column", "provider,region,machine,gpu,gpus,term,date,source\n", "usd_per_hour is missing"},
		{"no date column", "provider,region,machine,gpu,gpus,term,usd_per_hour,source\n", "date is missing"},
		{"twice", "provider,provider,region,machine,gpu,gpus,term,usd_per_hour,date,source\n", "there twice"},
		{"short line", fileHead + "a,b\n", "2:1  the line has more or fewer columns"},
		{"zero", row("a,b,c,H100,8,1y,,0,,,,2026-10-01,x"), "write free: true"},
		{"free and dear", row("a,b,c,H100,8,1y,,1,,true,,2026-10-01,x"), "leave one out"},
		{"negative", row("a,b,c,H100,8,1y,,-1,,,,2026-10-01,x"), "a price is not negative"},
		{"nan", row("a,b,c,H100,8,1y,,NaN,,,,2026-10-01,x"), "want US dollars"},
		{"infinite", row("a,b,c,H100,8,1y,,1e99,,,,2026-10-01,x"), "want US dollars"},
		{"comma", row(`a,b,c,H100,8,1y,,"3,90",,,,2026-10-01,x`), "write 3.90"},
		{"dear", row("a,b,c,H100,8,1y,,8001,,,,2026-10-01,x"), "is believed"},
		{"euro", row("a,b,c,H100,8,1y,,1,,,EUR,2026-10-01,x"), "all prices of a file are in USD"},
		{"no source", row("a,b,c,H100,8,1y,,1,,,,2026-10-01,"), "source is empty"},
		{"no day", row("a,b,c,H100,8,1y,,1,,,,2026-02-30,x"), "want a day"},
		{"no GPUs", row("a,b,c,H100,0,1y,,1,,,,2026-10-01,x"), "want a whole number of 1"},
		{"half a GPU", row("a,b,c,H100,0.5,1y,,1,,,,2026-10-01,x"), "want a whole number of 1"},
		{"term", row("a,b,c,H100,8,soon,,1,,,,2026-10-01,x"), "want on_demand, spot"},
		{"payment", row("a,b,c,H100,8,1y,some,1,,,,2026-10-01,x"), "want none, partial or all"},
		{"payment of spot", row("a,b,c,H100,8,spot,all,1,,,,2026-10-01,x"), "leave it out for spot"},
		{"slash", row("a/b,b,c,H100,8,1y,,1,,,,2026-10-01,x"), "it is part of a key"},
		{"disagree", row("a,b,c,H100,8,1y,,8,2,,,2026-10-01,x"), "is 1.00 for one"},
		{"no price", row("a,b,c,H100,8,1y,,,,,,2026-10-01,x"), "usd_per_hour is empty"},
		{"one key twice", row("a,b,c,H100,8,1y,,8,,,,2026-10-01,x\nA,b,c,h100,8,12mo,,9,,,,2026-10-01,x"), "is there twice, first in line 2"},
		{"two kinds of GPU", row("a,b,c,H100,8,1y,,8,,,,2026-10-01,x\na,b,c,A100,8,3y,,9,,,,2026-10-01,x"), "8 × A100 here and 8 × H100 in line 2"},
		{"column of the mark", row("a,b,c,H100,8,1y,,x,,,,2026-10-01,x"), "p.csv:2:18  usd_per_hour: want"},
		{"no list", "capcli: prices/v1\n", "prices is missing"},
		{"other form", "capcli: scenario/v1\nprices: []\n", "this is capcli"},
		{"unknown field", "capcli: prices/v1\nprices: [{povider: a}]\n", `did you mean "provider"?`},
	} {
		file := "p.csv"
		if strings.HasPrefix(x.text, "capcli") {
			file = "p"
		}
		_, err := Parse(file, []byte(x.text))
		var in *capcli.InputError
		if err == nil || !strings.Contains(err.Error(), x.want) || !errors.As(err, &in) {
			t.Errorf("%s: got %v, want …%s…", x.name, err, x.want)
		}
	}
}

func day(t *testing.T, s string) capcli.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return capcli.TimeOf(at)
}
