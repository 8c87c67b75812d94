package scenarios

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/simulate/billing"
)

// Energy is the power of GPUs as a file states it.
type Energy struct {
	Energy billing.Energy
	File   string // of the intensity, relative to the file that names it; "" is a figure
	Zone   string // of that file
}

// Load reads the file of the intensity, where there is one.
func (e *Energy) Load(open func(name string) ([]byte, error)) (*billing.Energy, error) {
	out := e.Energy
	if e.File == "" {
		return &out, nil
	}
	b, err := open(e.File)
	if err != nil {
		return nil, err
	}
	samples, err := billing.ReadSeries(e.File, strings.NewReader(string(b)), billing.SeriesOptions{Zone: e.Zone})
	if err != nil {
		return nil, err
	}
	if out.Intensity, err = billing.IntensityOf(samples); err != nil {
		return nil, &capcli.InputError{File: e.File, Text: err.Error()}
	}
	return &out, nil
}

// budget reads what may be spent: {monthly: 100k, tenants: {research: 40k}}.
func budget(dst **billing.Budget) reader {
	return func(d *decoder, n *yaml.Node) {
		b := &billing.Budget{}
		var every, view string
		o := d.object(n, "budget", budgetFields(b, &every, &view))
		if o == nil {
			return
		}
		given := 0
		for _, p := range []billing.BudgetPeriod{billing.Monthly, billing.Quarterly, billing.Yearly} {
			if o.has(p.String()) {
				given++
			}
			if every == p.String() {
				b.Every = p
			}
		}
		switch {
		case given > 1:
			o.on("monthly", "give one of monthly, quarterly and yearly")
		case given == 1 && o.has("every"):
			o.onKey("every", "the period is said already; leave every out")
		case given == 0 && !o.has("tenants"):
			o.missing("monthly", "the budget has no amount: give monthly, quarterly or yearly, or tenants")
		case given == 1 && b.Amount == 0 && o.clean("monthly", "quarterly", "yearly"):
			o.on("monthly", "a budget of 0 allows nothing; leave it out where there is none")
		}
		b.Cash = view == "cash"
		*dst = b
	}
}

func budgetFields(b *billing.Budget, every, view *string) []field {
	period := func(p billing.BudgetPeriod, each string) field {
		return field{p.String(), "what all may spend in each " + each, func(d *decoder, n *yaml.Node) {
			b.Every = p
			money(&b.Amount)(d, n)
		}}
	}
	return []field{
		period(billing.Monthly, "calendar month"), period(billing.Quarterly, "quarter"), period(billing.Yearly, "year"),
		{"every", "period of budgets by tenant where none is for all: monthly, quarterly, yearly", choice(every, "period", "monthly", "quarterly", "yearly")},
		{"tenants", "and what each of these may: {research: 40k}", tenantBudgets(&b.Tenants)},
		{"view", "what counts: amortised (where left out) or cash", choice(view, "view", "amortised", "cash")},
	}
}

// tenantBudgets reads amounts by tenant, in the file's order.
func tenantBudgets(dst *[]billing.TenantBudget) reader {
	return func(d *decoder, n *yaml.Node) {
		if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxTenants {
			d.want(n, fmt.Sprintf("at most %d amounts by tenant: {research: 40k}", maxTenants))
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
				d.at(key, "want each tenant's name once")
				continue
			}
			seen[key.Value] = true
			t := billing.TenantBudget{Name: key.Value}
			d.enter(key.Value)
			before := d.count()
			money(&t.Amount)(d, value)
			if d.count() == before && t.Amount == 0 {
				d.at(value, "a budget of 0 allows nothing; leave it out where there is none")
			}
			d.leave()
			*dst = append(*dst, t)
		}
	}
}

// approvals reads who must sign: [{below: 10, by: team lead}, {by: board}].
func approvals(dst *billing.Approvals) reader {
	return func(d *decoder, n *yaml.Node) {
		d.list(n, maxList, "approvals", func(_ int, n *yaml.Node) {
			var a billing.Approval
			o := d.object(n, "approvals", approvalFields(&a))
			o.need("by")
			*dst = append(*dst, a)
		})
		if why := dst.Check(); why != "" && d.count() == 0 {
			d.at(n, "approvals: %s", why)
		}
	}
}

func approvalFields(a *billing.Approval) []field {
	return []field{
		{"below", "for fewer GPUs than this; any number where left out, in the last", whole(&a.Below, 1, maxGPUs)},
		{"by", "who must sign", name(&a.By)},
	}
}

// powerText is the section's figures as they are written.
type powerText struct {
	held, idle, pue float64
	grid            string
}

func energyFields(e *Energy, t *powerText) []field {
	return []field{
		{"watts_held", "power of a GPU that is held, with its share of the node", number(&t.held, 0, 100_000)},
		{"watts_idle", "of one that is up and that nobody holds; 0 where left out", number(&t.idle, 0, 100_000)},
		{"models", "of other models: [{gpu_model: H100, watts_held: 700, watts_idle: 90}]", powerModels(&e.Energy.Models)},
		{"pue", "power of the building for each watt; 1 where left out", number(&t.pue, 1, 10)},
		{"price_kwh", "dollars for a kilowatt-hour", money(&e.Energy.Price)},
		{"intensity", "grams of CO2e for a kilowatt-hour: a number, or a CSV file of an hourly series", text(&t.grid, 4096)},
		{"zone", "grid zone of that file: DE, US-CAL-CISO", name(&e.Zone)},
		{"carbon_price", "dollars for a tonne of CO2e", money(&e.Energy.CarbonPrice)},
		{"carbon_budget", "CO2e for the whole time: 120t, 500kg", carbon(&e.Energy.Budget)},
	}
}

func powerModelFields(m *billing.ModelPower, t *powerText) []field {
	return []field{
		{"gpu_model", "the model", name(&m.GPUModel)},
		{"watts_held", "power of a GPU that is held", number(&t.held, 0, 100_000)},
		{"watts_idle", "of one that is not", number(&t.idle, 0, 100_000)},
	}
}

// energy reads what power costs.
func energy(dst **Energy) reader {
	return func(d *decoder, n *yaml.Node) {
		e := &Energy{}
		t := powerText{pue: 1}
		o := d.object(n, "energy", energyFields(e, &t))
		if o == nil {
			return
		}
		if !o.has("models") {
			o.need("watts_held")
		}
		if t.grid != "" {
			e.Energy.Intensity.Flat, e.File = intensityOf(t.grid)
		}
		if e.File == "" && o.has("zone") {
			o.onKey("zone", "zone goes with a file of intensity")
		}
		if !o.has("intensity") && (o.has("carbon_price") || o.has("carbon_budget")) {
			o.missing("intensity", "intensity is missing: the carbon of a kilowatt-hour, such as 400, or a file")
		}
		e.Energy.Held, e.Energy.Idle, e.Energy.PUE = milli(t.held), milli(t.idle), milli(t.pue)
		*dst = e
	}
}

// milli rounds to thousandths.
func milli(v float64) int64 { return int64(math.Round(v * 1000)) }

// intensityOf reads 400, or takes the text for a file's name.
func intensityOf(text string) (grid billing.Carbon, file string) {
	u, err := capcli.ParseUSD(text) // a decimal in millionths, of grams
	if err != nil || u > 100_000*capcli.Dollar || strings.HasPrefix(text, "$") {
		return 0, text
	}
	return billing.Carbon((u + 500) / 1000), ""
}

func powerModels(dst *[]billing.ModelPower) reader {
	return func(d *decoder, n *yaml.Node) {
		seen := map[string]bool{}
		d.list(n, maxList, "models", func(_ int, n *yaml.Node) {
			var m billing.ModelPower
			var t powerText
			o := d.object(n, "models", powerModelFields(&m, &t))
			o.need("gpu_model", "watts_held")
			if seen[m.GPUModel] && o != nil {
				o.on("gpu_model", "%s is there twice", show(m.GPUModel))
			}
			seen[m.GPUModel] = true
			m.Held, m.Idle = milli(t.held), milli(t.idle)
			*dst = append(*dst, m)
		})
	}
}

// carbon reads 120t, 500kg or 30g.
func carbon(dst *billing.Carbon) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, "an amount of CO2e such as 120t")
		if !ok {
			return
		}
		for _, u := range []struct {
			unit string
			of   billing.Carbon
		}{{"kg", 1000 * billing.Gram}, {"g", billing.Gram}, {"t", billing.Tonne}} {
			digits, found := strings.CutSuffix(s, u.unit)
			if !found {
				continue
			}
			v, err := capcli.ParseUSD(strings.TrimSpace(digits)) // in millionths
			if err != nil || v <= 0 || v > math.MaxInt64/capcli.USD(u.of) || strings.HasPrefix(s, "$") {
				break
			}
			*dst = billing.Carbon(v) * u.of / 1_000_000
			return
		}
		d.want(n, "an amount of CO2e above 0 with its unit, such as 120t, 500kg or 800g")
	}
}
