package scenarios

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/scenarios/money/billing"
)

// settleCase is a case of golden/commitments: use and products, and what they come to. Money in the
// case is in millionths of a dollar.
type settleCase struct {
	Case struct {
		ID    string
		Start time.Time
		Hours int64
		SKUs  []settleSKU
		Jobs  []struct {
			ID, SKU, Zone, Kind, Account string
			Place                        *string
			GPUs                         int64
			Start, End                   int64
		}
		Products []settleProduct
	}
	Expected struct {
		Total      string
		Equivalent string `json:"on_demand_equivalent"`
		Unrounded  string `json:"total_unrounded"`
		Rounding   string `json:"rounding_costs"`
		Products   map[string]struct {
			Cost    string
			Covered float64 `json:"covered_unit_seconds"`
			Unused  struct {
				Seconds *float64 `json:"unit_seconds"`
				Dollars *string
			}
			Value string `json:"covered_on_demand_value"`
		}
		OnDemand map[string]settleUse `json:"on_demand"`
		Spot     map[string]settleUse
	}
}

type settleUse struct {
	Seconds float64 `json:"unit_seconds"`
	Cost    string
}

type settleSKU struct {
	ID, Provider, Group, Unit, Region string
	Instance                          string `json:"instance_type"`
	GPUModel                          string `json:"gpu_model"`
	GPUs                              int64
	Factor                            *int64
	OnDemand                          int64 `json:"on_demand"`
	Spot                              int64
}

type settleProduct struct {
	ID, Product, SKU, Zone, Payment string
	Units, Rate, Commit             int64
	Instance                        bool
	Rates                           map[string]int64
	Start, End                      int64
}

// TestSettlementIsExact prices all cases of golden/commitments as the command bill does, from a CSV
// of use and a portfolio in YAML: every figure is right to two millionths of a dollar and a
// thousandth of a unit-second.
func TestSettlementIsExact(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "golden", "commitments")
	var documents []settleCase
	b, err := os.ReadFile(filepath.Join(dir, "documents.json"))
	if err != nil {
		t.Skipf("the shared data are not here: %v", err)
	}
	if err := json.Unmarshal(b, &documents); err != nil {
		t.Fatal(err)
	}
	for i := range documents {
		documents[i].compare(t)
	}
	f, err := os.Open(filepath.Join(dir, "settle.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := bufio.NewReader(z); ; n++ {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			var c settleCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			c.compare(t)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d documents, %d drawn portfolios", len(documents), n)
}

// use writes the jobs as metered use: in whole machines, each job for itself, or in the share of a
// machine that it uses.
func (c *settleCase) use(whole bool) string {
	var b strings.Builder
	b.WriteString("start,end,units,instance_type,gpu_model,provider,region,zone,account,job,kind,price,spot_price,capacity,min_billing_s\n")
	for _, j := range c.Case.Jobs {
		s := c.sku(j.SKU)
		machines := fmt.Sprintf("%.3f", float64(j.GPUs)/float64(s.GPUs))
		switch {
		case whole && s.Unit == "gpu":
			machines = fmt.Sprint((j.GPUs + s.GPUs - 1) / s.GPUs * s.GPUs)
		case whole:
			machines = fmt.Sprint((j.GPUs + s.GPUs - 1) / s.GPUs)
		case s.Unit == "gpu":
			machines = fmt.Sprint(j.GPUs)
		}
		kind, capacity, spot := j.Kind, "", ""
		if j.Place != nil {
			kind, capacity = "reserved", *j.Place
		}
		if kind == "spot" {
			spot = dollars(s.Spot)
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,0\n", c.instantText(j.Start), c.instantText(j.End), machines, s.Instance, s.GPUModel,
			s.Provider, s.Region, j.Zone, j.Account, j.ID, kind, dollars(s.OnDemand), spot, capacity)
	}
	return b.String()
}

func (c *settleCase) instantText(second int64) string {
	return c.Case.Start.Add(time.Duration(second) * time.Second).Format(time.RFC3339)
}

func dollars(micros int64) string { return capcli.USD(micros).Decimal() }

func (c *settleCase) sku(id string) *settleSKU {
	for i := range c.Case.SKUs {
		if c.Case.SKUs[i].ID == id {
			return &c.Case.SKUs[i]
		}
	}
	panic("no SKU " + id)
}

// portfolio writes the products.
func (c *settleCase) portfolio() string {
	var b strings.Builder
	b.WriteString("capcli: portfolio/v1\ncommitments:\n")
	if len(c.Case.Products) == 0 {
		return "capcli: portfolio/v1\ncommitments: []\n"
	}
	for _, p := range c.Case.Products {
		name := p.Product
		if p.Instance {
			name = "instance_savings_plan"
		}
		fmt.Fprintf(&b, "  - {id: %s, product: %s, from: %s, until: %s", p.ID, name, c.instantText(p.Start), c.instantText(p.End))
		if p.Payment != "" {
			fmt.Fprintf(&b, ", payment: %s", p.Payment)
		}
		if p.SKU != "" {
			c.writeScope(&b, &p)
		}
		if len(p.Rates) > 0 {
			fmt.Fprintf(&b, ", owner: a, commit: %s, rates: [", dollars(p.Commit))
			for i, s := range c.Case.SKUs { // in one order
				if rate, is := p.Rates[s.ID]; is {
					if i > 0 {
						b.WriteString(" ")
					}
					fmt.Fprintf(&b, "{provider: %s, region: %s, instance_type: %s, rate: %s},", s.Provider, s.Region, s.Instance, dollars(rate))
				}
			}
			b.WriteString("]")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// writeScope writes what a product covers, with its units and rate.
func (c *settleCase) writeScope(b *strings.Builder, p *settleProduct) {
	s := c.sku(p.SKU)
	fmt.Fprintf(b, ", units: %d, price: %s, provider: %s, region: %s", p.Units, dollars(p.Rate), s.Provider, s.Region)
	if p.Zone != "" {
		fmt.Fprintf(b, ", zone: %s", p.Zone)
	}
	switch p.Product {
	case "committed_use":
		fmt.Fprintf(b, ", owner: a, gpu_model: %s, reservation: r-%s", s.GPUModel, p.ID)
		return
	case "capacity_block":
		b.WriteString(", rule: any")
	case "azure_reservation":
		var sizes []string
		for _, o := range c.Case.SKUs {
			if o.Group == s.Group && o.Region == s.Region && o.Factor != nil {
				sizes = append(sizes, fmt.Sprintf("{size: %s, ratio: %d}", o.Instance, *o.Factor))
			}
		}
		if s.Factor != nil && len(sizes) > 0 {
			fmt.Fprintf(b, ", sizes: [%s]", strings.Join(sizes, ", "))
		}
	}
	fmt.Fprintf(b, ", owner: a, instance_type: %s", s.Instance)
}

// bill prices the case.
func (c *settleCase) bill(t *testing.T, whole bool) *billing.Statement {
	t.Helper()
	use, read, err := billing.ReadUse("use.csv", strings.NewReader(c.use(whole)), billing.UseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", c.Case.ID, err)
	}
	p, err := ParsePortfolio("portfolio.yaml", []byte(c.portfolio()))
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Case.ID, err, c.portfolio())
	}
	from := capcli.TimeOf(c.Case.Start)
	s, err := billing.State(&billing.Request{
		Use: use, Read: read, Portfolio: p.Portfolio, From: from, Until: from + capcli.Time(c.Case.Hours)*capcli.Time(capcli.Hour), Grain: billing.ByMonth,
	})
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Case.ID, err, c.portfolio())
	}
	return s
}

// part is what the rows of a bill of one commitment, or of one SKU, sum to.
type part struct {
	cost, value, unusedCost capcli.USD
	covered, unused         capcli.GPUTime
}

// compare holds a bill against what is expected.
func (c *settleCase) compare(t *testing.T) {
	t.Helper()
	s := c.bill(t, true)
	kinds := map[string]string{}
	for _, p := range c.Case.Products {
		kinds[p.ID] = p.Product
	}
	parts := map[string]*part{}
	of := func(id string) *part {
		if parts[id] == nil {
			parts[id] = &part{}
		}
		return parts[id]
	}
	var equivalent capcli.USD
	for i := range s.Bill.Rows {
		r := &s.Bill.Rows[i]
		if r.Category == billing.Purchase {
			continue
		}
		reservation := r.Reservation != "" && kinds[r.Reservation] == "capacity_reservation"
		switch {
		case r.Tenant == "" && r.Job == "" && r.Status == billing.Unused, reservation && r.ReservationStatus == billing.Unused:
		case r.Kind == billing.UseSpot:
			equivalent += r.EffectiveCost
		default:
			equivalent += r.ListCost
		}
		if reservation {
			x := of(r.Reservation)
			if r.ReservationStatus == billing.Unused {
				if x.unused += r.Quantity; r.Commitment == "" {
					x.cost += r.EffectiveCost
				}
			} else {
				x.covered += r.Quantity
			}
		}
		if r.Commitment != "" {
			x := of(r.Commitment)
			if x.cost += r.EffectiveCost; r.Status == billing.Unused {
				x.unused += r.Quantity
				x.unusedCost += r.EffectiveCost
			} else {
				x.covered += r.Quantity
				x.value += r.ListCost
			}
			continue
		}
		if !reservation || r.ReservationStatus != billing.Unused {
			id := fmt.Sprint(r.Kind, " ", r.SKU.Provider, r.SKU.Region, r.SKU.Family, r.SKU.Size)
			of(id).covered += r.Quantity
			of(id).cost += r.EffectiveCost
		}
	}
	c.money(t, "total", s.Total.Effective, c.Expected.Total)
	c.money(t, "on demand equivalent", equivalent, c.Expected.Equivalent)
	for id, want := range c.Expected.Products {
		c.money(t, id+": cost", of(id).cost, want.Cost)
	}
	for _, alike := range c.alike() {
		var x part
		var value, dollars capcli.USD
		var covered, unused, least float64
		for _, p := range alike {
			want, got := c.Expected.Products[p.ID], of(p.ID)
			amount, err := capcli.ParseUSD(want.Value)
			if err != nil {
				t.Fatal(err)
			}
			if want.Unused.Dollars != nil {
				amount, err := capcli.ParseUSD(*want.Unused.Dollars)
				if err != nil {
					t.Fatal(err)
				}
				dollars += amount
				x.unusedCost += got.unusedCost
			}
			value += amount
			covered += want.Covered
			x.covered += got.covered
			x.value += got.value
			factor := 1.0
			if s := p.SKU; s != "" && c.sku(s).Factor != nil {
				factor = float64(*c.sku(s).Factor)
			}
			if want.Unused.Seconds != nil {
				unused += factor * (float64(got.unused)/1000 - *want.Unused.Seconds)
				least += factor * 0.001
			}
		}
		name := fmt.Sprint(alike[0].ID, " and those alike")
		c.seconds(t, name+": covered", x.covered, covered)
		c.money(t, name+": unused", x.unusedCost, dollars.Decimal())
		if math.Abs(unused) > least+1e-9 {
			t.Errorf("%s: %s: unused is %.4f of their own unit off", c.Case.ID, name, unused)
		}
		if products, _ := billing.Named(); !billing.BringsCapacity(products[kinds[alike[0].ID]]) {
			c.money(t, name+": covered at on-demand prices", x.value, value.Decimal())
		}
	}
	for kind, uses := range map[billing.UseKind]map[string]settleUse{billing.UseOnDemand: c.Expected.OnDemand, billing.UseSpot: c.Expected.Spot} {
		for id, want := range uses {
			k := c.sku(id)
			family, size := billing.CutInstanceType(k.Instance)
			x := of(fmt.Sprint(kind, " ", k.Provider, k.Region, family, size))
			c.money(t, id, x.cost, want.Cost)
			c.seconds(t, id, x.covered, want.Seconds)
		}
	}
	exact := c.bill(t, false)
	c.money(t, "total unrounded", exact.Total.Effective, c.Expected.Unrounded)
	c.money(t, "rounding", s.Total.Effective-exact.Total.Effective, c.Expected.Rounding)
}

// alike returns the products in groups. No rule says which of two commitments that cover the same use
// comes first, so what each covers hangs on an order of no consequence, and only sums are compared.
func (c *settleCase) alike() [][]settleProduct {
	var out [][]settleProduct
	index := map[string]int{}
	for _, p := range c.Case.Products {
		key := p.ID
		if len(p.Rates) > 0 {
			key = fmt.Sprint(p.Product, p.Instance)
		}
		if strings.HasSuffix(p.Product, "reserved_instance") || p.Product == "azure_reservation" || p.Product == "committed_use" {
			s := c.sku(p.SKU)
			key = fmt.Sprint(p.Product, s.Region, s.Group, p.Zone)
			if p.Product == "committed_use" {
				key = fmt.Sprint(p.Product, s.Region, s.GPUModel)
			}
			if s.Factor == nil || p.Zone != "" {
				key += s.Instance
			}
		}
		at, is := index[key]
		if !is {
			at = len(out)
			index[key] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], p)
	}
	return out
}

func (c *settleCase) money(t *testing.T, what string, got capcli.USD, want string) {
	t.Helper()
	w, err := capcli.ParseUSD(strings.TrimPrefix(want, "-"))
	if strings.HasPrefix(want, "-") {
		w = -w
	}
	if err != nil || got-w > 2 || w-got > 2 {
		t.Errorf("%s: %s is %s, want %s %v", c.Case.ID, what, got.Decimal(), want, err)
	}
}

func (c *settleCase) seconds(t *testing.T, what string, got capcli.GPUTime, want float64) {
	t.Helper()
	if math.Abs(float64(got)/1000-want) > 0.001+1e-9 {
		t.Errorf("%s: %s is %.3f unit-seconds, want %.3f", c.Case.ID, what, float64(got)/1000, want)
	}
}
