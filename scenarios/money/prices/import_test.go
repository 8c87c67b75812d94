package prices

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/scenarios/strict"

	"capcli"
)

func imported(t *testing.T, text string, o ImportOptions) (*List, ImportReport, []string) {
	t.Helper()
	var rejects []string
	o.Reject = func(line int, reason, _ string) { rejects = append(rejects, fmt.Sprintf("%d: %s", line, reason)) }
	p, rep, err := Import("list.csv", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	checkImport(t, p, rep)
	return p, rep, rejects
}

func checkImport(t *testing.T, p *List, rep ImportReport) {
	t.Helper()
	checkPrices(t, p)
	if rep.Kept != int64(len(p.rows)) || rep.Kept+rep.Repeated+rep.Rejected != rep.Prices {
		t.Errorf("%+v for %d prices", rep, len(p.rows))
	}
	var rejected, skipped int64
	for _, r := range rep.Reasons {
		if r.Skipped {
			skipped += r.N
		} else {
			rejected += r.N
		}
	}
	if rejected != rep.Rejected || skipped != rep.Skipped {
		t.Errorf("the reasons sum to %d and %d: %+v", rejected, skipped, rep)
	}
	var csv, yaml bytes.Buffer
	if err := errors.Join(p.WriteCSV(&csv, func(s string) string { return s }), p.WriteYAML(&yaml)); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{"p.csv": csv.Bytes(), "p.yaml": yaml.Bytes()} {
		if len(text) > strict.MaxBytes {
			continue
		}
		again, err := Parse(file, text)
		if err != nil {
			t.Errorf("what was written is not read: %v", err)
			continue
		}
		for i, r := range again.rows {
			w := p.rows[i]
			if r.Key() != w.Key() || r.Hourly != w.Hourly || r.Date != w.Date || r.GPU != w.GPU || r.GPUs != w.GPUs || r.Free != w.Free {
				t.Errorf("%s: %+v was written, %+v read", file, w, r)
			}
		}
	}
}

func keysOf(p *List) string {
	var out []string
	for _, r := range p.rows {
		out = append(out, fmt.Sprintf("%s@%s=%s", r.Key(), r.Date.Date(), r.Hourly.Decimal()))
	}
	return strings.Join(out, " ")
}

func TestImportTables(t *testing.T) {
	for _, x := range []struct {
		name, text string
		o          ImportOptions
		want       string
		rejects    string
	}{
		{
			"google", "date,machine_type,region,gpu,gpu_count,hour_ondemand,hour_spot,month_ondemand,month_1y,month_3y,month_spot,source_commit\n" +
				"2026-07-30,a3-highgpu-8g,us-central1,h100-80gb,8,88.4899999025753,50.6095408219178,64597.69992888,44810.08066464,28370.99821392,36944.9648,fd66b26\n" +
				"2026-07-30,g4-standard-6,us-central1,rtx6000,0,0.55955625,,408.4760625,281.853,,163.376555,fd66b26\n",
			ImportOptions{Format: "gcp"},
			"gcp/us-central1/a3-highgpu-8g/1y@2026-07-30=61.383672 gcp/us-central1/a3-highgpu-8g/3y@2026-07-30=38.864381 " +
				"gcp/us-central1/a3-highgpu-8g/on_demand@2026-07-30=88.49 gcp/us-central1/a3-highgpu-8g/spot@2026-07-30=50.609541",
			"3: a machine without a GPU|3: a machine without a GPU",
		},
		{
			"amazon's ladder", "instance_type,gpu,gpu_count,region,ondemand_hour,ri_1y_std_noupfront_hour,discount_pct\n" +
				"p4de.24xlarge,NVIDIA A100,8,us-east-1,27.44705,17.401365,36.6\np5.48xlarge,NVIDIA H100,8,us-east-1,55.04,,\n",
			ImportOptions{Set: map[string]string{"date": "2026-01-21"}},
			"aws/us-east-1/p4de.24xlarge/1y-none@2026-01-21=17.401365 aws/us-east-1/p4de.24xlarge/on_demand@2026-01-21=27.44705 aws/us-east-1/p5.48xlarge/on_demand@2026-01-21=55.04", "",
		},
		{
			"zones", "instance_type,gpu,gpu_count,price_ondemand_hour,price_spot_hour,region,az_id\n" +
				"p3.2xlarge,V100,1,3.06,0.370700,us-east-1,use1-az1\np3.2xlarge,V100,1,3.06,0.428100,us-east-1,use1-az2\n",
			ImportOptions{Set: map[string]string{"date": "2025-06-23", "source": "zones"}},
			"aws/us-east-1/p3.2xlarge/on_demand@2025-06-23=3.06 aws/us-east-1/p3.2xlarge/spot@2025-06-23=0.3707", "3: another price of the same key and date",
		},
		{
			"mapped", "kind,n,model,dollars,yearly\nbox,4,NVIDIA H100,10.00,5110.00\n",
			ImportOptions{
				Map: map[string]string{"machine": "kind", "gpus": "n", "gpu": "model", "on_demand": "dollars", "12mo": "yearly/730"},
				Set: map[string]string{"provider": "acme", "region": "dc1", "date": "2026-10-01"},
			},
			"acme/dc1/box/1y@2026-10-01=7.00 acme/dc1/box/on_demand@2026-10-01=10.00", "",
		},
		{
			"long, of a GPU", "provider,machine,gpu,gpus,term,price,date\nacme,box,H100,4,12mo-all,2.5,2026-10-01T00:00:00Z\nacme,box,H100,4,spot,1.0000005,2026-10-01\n",
			ImportOptions{PerGPU: true},
			"acme/any/box/1y-all@2026-10-01=10.00 acme/any/box/spot@2026-10-01=4.000004", "",
		},
		{
			"oddities", "provider,region,machine,gpu,gpus,term,price,date,free,currency\n" +
				"a,b,c1,H100,8,1y,0,2026-10-01,,\na,b,c2,H100,8,1y,-3,2026-10-01,,\na,b,c3,H100,8,1y,NaN,2026-10-01,,\na,b,c4,H100,0.125,1y,3,2026-10-01,,\n" +
				"a,b,c5,H100,8,1y,3,2026-10-01,,EUR\na,b,c6,H100,8,soon,3,2026-10-01,,\na,b,c7,H100,8,1y,0,2026-10-01,true,\na,b,c8,H100,8,1y,,2026-10-01,,\n" +
				"a,b,c7,H100,4,3y,1,2026-10-01,,\na,b,c9,H100,8,1y,3,yesterday,,\n,b,c10,H100,8,1y,3,2026-10-01,,\na,b,c11,H100,8,1y,1e99,2026-10-01,,\na,b,c12,H100,8,1y,5e-1,2026-10-01,,\n",
			ImportOptions{},
			"a/b/c12/1y@2026-10-01=0.50 a/b/c7/1y@2026-10-01=0.00",
			"2: price is 0 (write free: true where it is meant)|3: price is negative|4: price is not a number|5: a part of a GPU, not a whole one|" +
				"6: currency is not as a price file has it|7: term is not as a price file has it|10: another number of GPUs than the same machine has before|" +
				"11: date is not as a price file has it|12: provider is missing (--set provider=…)|13: price is too small or too large to be believed",
		},
	} {
		p, rep, rejects := imported(t, x.text, x.o)
		if got := keysOf(p); got != x.want {
			t.Errorf("%s: got\n%s\nwant\n%s", x.name, got, x.want)
		}
		if got := strings.Join(rejects, "|"); got != x.rejects {
			t.Errorf("%s: rejected\n%s\nwant\n%s\n%+v", x.name, got, x.rejects, rep)
		}
	}
}

// A contract of AWS's list is a line of what is paid at once and one of what
// each hour costs.
func TestImportAWS(t *testing.T) {
	const head = `"FormatVersion","v1.0"
"Disclaimer","This pricing list is for informational purposes only."
"Publication Date","2026-07-20T00:00:00Z"
"SKU","OfferTermCode","RateCode","TermType","PriceDescription","EffectiveDate","Unit","PricePerUnit","Currency","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","Region Code","Instance Type","Tenancy","Operating System","Pre Installed S/W","CapacityStatus","GPU"
`
	row := func(sku, code, kind, unit, price, lease, option, class, machine, tenancy, gpu string) string {
		return fmt.Sprintf("%q,%q,\"r\",%q,\"d\",\"2026-07-01\",%q,%q,\"USD\",%q,%q,%q,\"Compute Instance\",\"us-east-1\",%q,%q,\"Linux\",\"NA\",\"Used\",%q\n",
			sku, code, kind, unit, price, lease, option, class, machine, tenancy, gpu)
	}
	text := head +
		row("A", "OD", "OnDemand", "Hrs", "55.0400000000", "", "", "", "p5.48xlarge", "Shared", "8") +
		row("A", "R1", "Reserved", "Hrs", "20.0000000000", "1yr", "Partial Upfront", "standard", "p5.48xlarge", "Shared", "8") +
		row("A", "R2", "Reserved", "Hrs", "36.5000000000", "1yr", "No Upfront", "standard", "p5.48xlarge", "Shared", "8") +
		row("A", "R1", "Reserved", "Quantity", "87600", "1yr", "Partial Upfront", "standard", "p5.48xlarge", "Shared", "8") +
		row("A", "R3", "Reserved", "Quantity", "525600", "3yr", "All Upfront", "standard", "p5.48xlarge", "Shared", "8") +
		row("A", "R3", "Reserved", "Hrs", "0.0000000000", "3yr", "All Upfront", "standard", "p5.48xlarge", "Shared", "8") +
		row("A", "R4", "Reserved", "Hrs", "1", "1yr", "No Upfront", "convertible", "p5.48xlarge", "Shared", "8") +
		row("B", "OD", "OnDemand", "Hrs", "3", "", "", "", "m5.large", "Shared", "") +
		row("C", "OD", "OnDemand", "Hrs", "60", "", "", "", "p5.48xlarge", "Dedicated", "8") +
		row("D", "R5", "Reserved", "Hrs", "1", "2yr", "No Upfront", "standard", "p5.48xlarge", "Shared", "8")
	p, rep, rejects := imported(t, text, ImportOptions{})
	want := "aws/us-east-1/p5.48xlarge/1y-none@2026-07-01=36.50 aws/us-east-1/p5.48xlarge/1y-partial@2026-07-01=30.00 " +
		"aws/us-east-1/p5.48xlarge/3y-all@2026-07-01=20.00 aws/us-east-1/p5.48xlarge/on_demand@2026-07-01=55.04"
	if got := keysOf(p); got != want || rep.Format != "aws" || rep.Skipped != 3 || len(rejects) != 1 {
		t.Errorf("got\n%s\nwant\n%s\n%+v\n%v", got, want, rep, rejects)
	}
}

// A bill says the same price each day; a change of it is another date.
func TestImportFOCUS(t *testing.T) {
	text := "ProviderName,RegionId,ChargeCategory,ChargePeriodStart,BilledCost,PricingCategory,PricingUnit,ListUnitPrice,ContractedUnitPrice,SkuPriceDetails,BillingCurrency\n" +
		"AWS,us-east-1,Usage,2025-06-21T00:00:00Z,1,Standard,Hours,98.32,90,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",USD\n" +
		"AWS,us-east-1,Usage,2025-06-22T00:00:00Z,1,Standard,Hours,98.32,90,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",USD\n" +
		"AWS,us-east-1,Usage,2025-06-23T00:00:00Z,1,Standard,Hours,55.04,,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",USD\n" +
		"AWS,us-east-1,Usage,2025-06-23T00:00:00Z,1,Committed,Hours,55.04,,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",USD\n" +
		"AWS,us-east-1,Purchase,2025-06-23T00:00:00Z,1,Standard,Hours,1,,,USD\n" +
		"AWS,us-east-1,Usage,2025-06-23T00:00:00Z,1,Standard,GB,1,,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",USD\n" +
		"Acme Cloud,dc1,Usage,2025-06-23T00:00:00Z,1,Dynamic,Hours,8,,\"{\"\"InstanceType\"\":\"\"box\"\",\"\"GpuCount\"\":4,\"\"GpuModel\"\":\"\"NVIDIA H100\"\"}\",USD\n" +
		"AWS,us-east-1,Usage,2025-06-23T00:00:00Z,1,Standard,Hours,NULL,,\"{\"\"InstanceType\"\":\"\"m5.large\"\"}\",USD\n"
	p, rep, _ := imported(t, text, ImportOptions{})
	want := "acme-cloud/dc1/box/spot@2025-06-23=8.00 aws/us-east-1/p5.48xlarge/on_demand@2025-06-21=90.00 aws/us-east-1/p5.48xlarge/on_demand@2025-06-23=55.04"
	if got := keysOf(p); got != want || rep.Format != "focus" || rep.Repeated != 1 || rep.Skipped != 4 {
		t.Errorf("got\n%s\nwant\n%s\n%+v", got, want, rep)
	}
}

func TestListsThatCannotBeImported(t *testing.T) {
	for _, x := range []struct {
		name, text string
		o          ImportOptions
		want       string
	}{
		{"empty", "", ImportOptions{}, "expected a header of columns"},
		{"no price", "machine,gpus,date\na,8,2026-01-01\n", ImportOptions{}, "no column of it is known as a price"},
		{"no date", "machine,gpus,price\na,8,1\n", ImportOptions{}, "no column of it is known as the date"},
		{"no machine", "gpus,price,date\n8,1,2026-01-01\n", ImportOptions{}, "no column of it is known as the machine"},
		{"no format", "a,b,c\n", ImportOptions{Format: "gccp"}, `did you mean "gcp"?`},
		{"no column", "machine,price,date\n", ImportOptions{Map: map[string]string{"gpus": "n"}}, "the list has no such column"},
		{"no column of ours", "machine,price,date\n", ImportOptions{Map: map[string]string{"machin": "n"}}, `did you mean "machine"?`},
		{"nothing kept", "machine,gpus,price,date,provider,gpu\na,8,0,2026-01-01,p,H100\n", ImportOptions{}, "no price in it could be taken: price is 0"},
		{"long line", "machine,gpus,price,date\n" + strings.Repeat("x", 3<<20), ImportOptions{}, "a line has over"},
	} {
		_, _, err := Import("l.csv", strings.NewReader(x.text), x.o)
		var in *capcli.InputError
		var unknown *capcli.UnknownError
		if err == nil || !strings.Contains(err.Error(), x.want) || !errors.As(err, &in) && !errors.As(err, &unknown) {
			t.Errorf("%s: got %v, want …%s…", x.name, err, x.want)
		}
	}
}

// Whole lists as they are published.
func TestImportWholeLists(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "prices")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the lists are not here: %v", err)
	}
	dated := map[string]string{"date": "2026-01-21"}
	for _, x := range []struct {
		file string
		o    ImportOptions
		rows int64
		want string // a price that must be in it
	}{
		{"gcp_gpu_prices_latest.csv", ImportOptions{Format: "gcp"}, 984, "gcp/europe-west4/a3-highgpu-8g/3y@2026-07-30=49.422193"},
		{"gcp_gpu_price_history.csv.gz", ImportOptions{Format: "gcp"}, 17769, "gcp/us-central1/a3-highgpu-8g/on_demand@2024-05-17=87.832466"},
		{"aws_gpu_ri1y_noupfront_vantage.csv", ImportOptions{Set: dated}, 1157, "aws/us-west-2/p4d.24xlarge/1y-none@2026-01-21=13.921092"},
		{"aws_gpu_ondemand_latest.csv", ImportOptions{}, 87, "aws/us-east-1/p5.48xlarge/on_demand@2026-07-20=55.04"},
		{"azure_gpu_ondemand_spot.csv", ImportOptions{Set: map[string]string{"date": "2025-06-23", "provider": "azure"}}, 29, "azure/westus/standard_nd96isr_h100_v5/on_demand@2025-06-23=127.816"},
	} {
		f, err := os.Open(filepath.Join(dir, x.file))
		if err != nil {
			t.Fatal(err)
		}
		var in io.Reader = f
		if strings.HasSuffix(x.file, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		p, rep, err := Import(x.file, in, x.o)
		_ = f.Close()
		if err != nil {
			t.Errorf("%s: %v", x.file, err)
			continue
		}
		if rep.Rows != x.rows || rep.Kept != int64(len(p.rows)) || rep.Kept+rep.Repeated+rep.Rejected != rep.Prices || !strings.Contains(keysOf(p)+" ", x.want+" ") {
			t.Errorf("%s: %+v, want %d rows and %s", x.file, rep, x.rows, x.want)
		}
	}
}

func FuzzImportPrices(f *testing.F) {
	f.Add([]byte("machine_type,region,gpu,gpu_count,hour_ondemand,month_1y,date\na3-highgpu-8g,x,h100,8,88.49,4e4,2026-07-30\n"), "on_demand", "price/730", "gcp")
	f.Add([]byte("\"FormatVersion\",\"v1\"\nSKU,OfferTermCode,PricePerUnit,TermType,Product Family,GPU,Tenancy,Operating System,Instance Type,LeaseContractLength,PurchaseOption,OfferingClass,Unit\nA,B,1,Reserved,Compute Instance,8,Shared,Linux,p5.48xlarge,1yr,No Upfront,standard,Hrs\n"), "gpus", "GPU", "aws")
	f.Add([]byte("BilledCost,ChargeCategory,SkuPriceDetails,PricingUnit,ListUnitPrice,ChargePeriodStart\n1,Usage,\"{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}\",Hours,5,2026-01-01T00:00:00Z\n"), "date", "ChargePeriodStart", "focus")
	f.Add([]byte("provider,machine,gpu,gpus,term,price,date,free\na,b,H100,8,spot,0,2026-01-01,true\n"), "term", "term", "")
	f.Fuzz(func(t *testing.T, b []byte, ours, theirs, format string) {
		for _, o := range []ImportOptions{{Format: format}, {Map: map[string]string{ours: theirs}, Set: map[string]string{"date": "2026-01-01", "provider": "p"}}} {
			p, rep, err := Import("f.csv", bytes.NewReader(b), o)
			if err != nil {
				var in *capcli.InputError
				var unknown *capcli.UnknownError
				if !errors.As(err, &in) && !errors.As(err, &unknown) {
					t.Errorf("got %v", err)
				}
				continue
			}
			checkImport(t, p, rep)
		}
	})
}
