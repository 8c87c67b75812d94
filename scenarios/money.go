package scenarios

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
)

// Energy is the energy section of a file.
type Energy struct {
	Energy billing.Energy
	File   string // CSV of the carbon intensity, relative to the file that names it; "" if the intensity is a number
	Zone   string // grid zone to read from File
	Zones  []EnergyZone
}

// Load returns the energy, with the intensity read from its file if it names one.
func (e *Energy) Load(open func(name string) ([]byte, error)) (*billing.Energy, error) {
	out := e.Energy
	if e.File == "" {
		var err error
		out.Places, err = e.loadZones(nil)
		return &out, err
	}
	b, err := open(e.File)
	if err != nil {
		return nil, err
	}
	if e.Zone != "" || len(e.Zones) == 0 {
		samples, err := billing.ReadSeries(e.File, strings.NewReader(string(b)), e.Zone)
		if err != nil {
			return nil, err
		}
		if out.Intensity, err = billing.IntensityOf(samples); err != nil {
			return nil, &capcli.InputError{File: e.File, Text: err.Error()}
		}
	}
	out.Places, err = e.loadZones(b)
	return &out, err
}

// budget reads a budget: {monthly: 100k, tenants: {research: 40k}}.
func budget(dst **billing.Budget) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		b := &billing.Budget{}
		var every, view string
		o := d.ReadObject(n, "budget", budgetFields(b, &every, &view))
		if o == nil {
			return
		}
		given := 0
		for _, p := range []billing.BudgetPeriod{billing.Monthly, billing.Quarterly, billing.Yearly} {
			if o.Has(p.String()) {
				given++
			}
			if every == p.String() {
				b.Every = p
			}
		}
		switch {
		case given > 1:
			o.Fault("monthly", "give one of monthly, quarterly and yearly")
		case given == 1 && o.Has("every"):
			o.FaultName("every", "the period is said already; leave every out")
		case given == 0 && !o.Has("tenants"):
			o.FaultMissing("monthly", "the budget has no amount: give monthly, quarterly or yearly, or tenants")
		case given == 1 && b.Amount == 0 && o.IsClean("monthly", "quarterly", "yearly"):
			o.Fault("monthly", "a budget of 0 allows nothing; leave it out where there is none")
		}
		b.Cash = view == "cash"
		*dst = b
	}
}

func budgetFields(b *billing.Budget, every, view *string) []strict.Field {
	period := func(p billing.BudgetPeriod, each string) strict.Field {
		return strict.Field{p.String(), "what all may spend in each " + each, func(d *strict.Decoder, n *yaml.Node) {
			b.Every = p
			money(&b.Amount)(d, n)
		}}
	}
	return []strict.Field{
		period(billing.Monthly, "calendar month"), period(billing.Quarterly, "quarter"), period(billing.Yearly, "year"),
		{"every", "period of budgets by tenant where none is for all: monthly, quarterly, yearly", strict.Choice(every, "period", "monthly", "quarterly", "yearly")},
		{"tenants", "and what each of these may: {research: 40k}", tenantBudgets(&b.Tenants)},
		{"view", "what counts: amortised (default) or cash", strict.Choice(view, "view", "amortised", "cash")},
	}
}

// tenantBudgets reads amounts by tenant, in the file's order.
func tenantBudgets(dst *[]billing.TenantBudget) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if d.AcceptsMap(n, ".", money(new(capcli.USD))) {
			return
		}
		if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxTenants {
			d.FaultWant(n, fmt.Sprintf("at most %d amounts by tenant: {research: 40k}", maxTenants))
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
				d.Fault(key, "want each tenant's name once")
				continue
			}
			seen[key.Value] = true
			t := billing.TenantBudget{Name: key.Value}
			d.Enter(key.Value)
			before := d.FaultCount()
			money(&t.Amount)(d, value)
			if d.FaultCount() == before && t.Amount == 0 {
				d.Fault(value, "a budget of 0 allows nothing; leave it out where there is none")
			}
			d.Leave()
			*dst = append(*dst, t)
		}
	}
}

// approvals reads who must approve: [{below: 10, by: team lead}, {by: board}].
func approvals(dst *billing.Approvals) strict.Reader {
	list := approvalSection.List((*[]billing.Approval)(dst), maxList, "approvals")
	return func(d *strict.Decoder, n *yaml.Node) {
		list(d, n)
		if why := dst.Check(); why != "" && d.FaultCount() == 0 {
			d.Fault(n, "approvals: %s", why)
		}
	}
}

var approvalSection = strict.Section[billing.Approval]{Name: "approvals", Needs: []string{"by"}, Fields: func(a *billing.Approval) []strict.Field {
	return []strict.Field{
		{"below", "for fewer GPUs than this; default: any number, in the last", strict.Integer(&a.Below, 1, maxGPUs)},
		{"by", "who must sign", strict.Name(&a.By)},
	}
}}

var energySection = strict.Section[Energy]{Name: "energy", Start: Energy{Energy: billing.Energy{PUE: 1000}}, Fields: func(e *Energy) []strict.Field {
	return []strict.Field{
		{"watts_held", "power of a GPU that is held, with its share of the node", watts(&e.Energy.Held)},
		{"watts_idle", "of one that is up and that nobody holds; default: 0", watts(&e.Energy.Idle)},
		{"models", "of other models: [{gpu_model: H100, watts_held: 700, watts_idle: 90}]", powerModels(&e.Energy.Models)},
		{"pue", "power of the building for each watt; default: 1", measure(&e.Energy.PUE, 1000, 1, 10)},
		{"price_kwh", "dollars for a kilowatt-hour", money(&e.Energy.Price)},
		{"intensity", "grams of CO2e for a kilowatt-hour: a number, or a CSV file of an hourly series", intensity(e)},
		{"zone", "grid zone of that file: DE, US-CAL-CISO", strict.Name(&e.Zone)},
		{"zones", "carbon by place of the pools: [{place: aws/eu-north-1, zone: SE}, {place: gcp, intensity: 300}]", energyZoneSection.List(&e.Zones, maxList, "zones")},
		{"carbon_price", "dollars for a tonne of CO2e", money(&e.Energy.CarbonPrice)},
		{"carbon_budget", "CO2e for the whole time: 120t, 500kg", carbon(&e.Energy.Budget)},
	}
}, Check: func(o *strict.Object, e *Energy) {
	if !o.Has("models") {
		o.Require("watts_held")
	}
	if e.File == "" && o.Has("zone") {
		o.FaultName("zone", "zone goes with a file of intensity")
	}
	for _, z := range e.Zones {
		if z.Zone != "" && e.File == "" {
			o.FaultName("zones", "zone %s is of a file; give intensity: file.csv", capcli.Quoted(z.Zone))
		}
	}
	if !o.Has("intensity") && !o.Has("zones") && (o.Has("carbon_price") || o.Has("carbon_budget")) {
		o.FaultMissing("intensity", "intensity is missing: the carbon of a kilowatt-hour, such as 400, or a file")
	}
}}

// watts reads a power in watts and stores milliwatts.
func watts(dst *int64) strict.Reader { return measure(dst, 1000, 0, 100_000) }

// intensity reads grams of CO2e a kilowatt-hour. Any other text is the name of a file.
func intensity(e *Energy) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var text string
		if strict.Text(&text, 4096)(d, n); text == "" {
			return
		}
		u, err := capcli.ParseUSD(text) // ParseUSD reads a decimal in millionths; here they are of grams
		if err != nil || u > 100_000*capcli.Dollar || strings.HasPrefix(text, "$") {
			e.File = text
			return
		}
		e.Energy.Intensity.Flat = billing.Carbon((u + 500) / 1000)
	}
}

// powerModels reads the power of further GPU models.
func powerModels(dst *[]billing.ModelPower) strict.Reader {
	seen := map[string]bool{}
	section := powerModelSection
	section.Check = func(o *strict.Object, m *billing.ModelPower) {
		if seen[m.GPUModel] {
			o.Fault("gpu_model", "%s is there twice", capcli.Quoted(m.GPUModel))
		}
		seen[m.GPUModel] = true
	}
	return section.List(dst, maxList, "models")
}

var powerModelSection = strict.Section[billing.ModelPower]{Name: "models", Needs: []string{"gpu_model", "watts_held"}, Fields: func(m *billing.ModelPower) []strict.Field {
	return []strict.Field{
		{"gpu_model", "the model", strict.Name(&m.GPUModel)},
		{"watts_held", "power of a GPU that is held", watts(&m.Held)},
		{"watts_idle", "of one that is not", watts(&m.Idle)},
	}
}}

// carbon reads an amount of CO2e: 120t, 500kg or 30g.
func carbon(dst *billing.Carbon) strict.Reader {
	return strict.Value(dst, "an amount of CO2e such as 120t", "an amount of CO2e above 0 with its unit, such as 120t, 500kg or 800g", func(s string) (billing.Carbon, bool) {
		for _, u := range []struct {
			name  string
			grams billing.Carbon
		}{{"kg", 1000 * billing.Gram}, {"g", billing.Gram}, {"t", billing.Tonne}} {
			if digits, found := strings.CutSuffix(s, u.name); found {
				v, err := capcli.ParseUSD(strings.TrimSpace(digits)) // ParseUSD reads a decimal in millionths
				ok := err == nil && v > 0 && v <= math.MaxInt64/capcli.USD(u.grams) && !strings.HasPrefix(s, "$")
				return billing.Carbon(v) * u.grams / 1_000_000, ok
			}
		}
		return 0, false
	})
}
