package prices

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// focusProviders maps the names of providers in bills to those in keys.
var focusProviders = map[string]string{
	"aws": "aws", "amazon web services": "aws", "microsoft": "azure", "microsoft azure": "azure", "azure": "azure",
	"google cloud": "gcp", "google": "gcp", "gcp": "gcp", "nebius": "nebius",
}

// focusRow reads the unit price of a charge. A contracted price takes precedence over the list
// price, because it is the one paid.
func (im *importer) focusRow(row []string) {
	cell := func(name string) string {
		if at := im.index(name); at >= 0 && at < len(row) {
			if s := strings.TrimSpace(row[at]); !strings.EqualFold(s, "null") {
				return s
			}
		}
		return ""
	}
	details := skuDetails(cell("SkuPriceDetails"))
	cells := im.cells(row)
	cells["machine"] = cmp.Or(cells["machine"], details["instancetype"], cell("x_InstanceType"), cell("x_SkuInstanceType"))
	cells["gpus"] = cmp.Or(cells["gpus"], details["gpucount"])
	cells["gpu"] = cmp.Or(cells["gpu"], details["gpumodel"])
	_, known := im.machines[strings.ToLower(cells["machine"])]
	unit := strings.ToLower(cell("PricingUnit"))
	switch {
	case cell("ChargeCategory") != "" && !strings.EqualFold(cell("ChargeCategory"), "Usage"):
		im.skip("no charge for use")
		return
	case cells["machine"] == "" && im.o.Set["machine"] == "":
		im.skip("a charge that names no machine type")
		return
	case !known && countOf(cmp.Or(im.o.Set["gpus"], cells["gpus"])) != "":
		im.skip("a machine without a GPU, as far as is known")
		return
	case !strings.HasPrefix(unit, "hour") && !strings.HasPrefix(unit, "hr") && !strings.HasSuffix(unit, "-hours"):
		im.skip("not priced by the hour")
		return
	}
	cells["provider"] = cmp.Or(focusProviders[strings.ToLower(cells["provider"])], strings.ReplaceAll(strings.ToLower(cells["provider"]), " ", "-"))
	cells["date"] = cmp.Or(cells["date"], cell("ChargePeriodStart"))
	switch category := strings.ToLower(cell("PricingCategory")); {
	case cells["term"] != "":
	case category == "standard" || category == "":
		cells["term"] = "on_demand"
	case category == "dynamic":
		cells["term"] = "spot"
	case im.o.Set["term"] == "":
		im.skip("a committed price whose term the bill does not say (--set term=1y)")
		return
	}
	price := cmp.Or(cell("ContractedUnitPrice"), cell("ListUnitPrice"))
	if price == "" {
		im.skip("a charge without a unit price")
		return
	}
	im.offerChanged(cells, price, strings.Join(row, ","))
}

// offerChanged imports a price of a bill only if it differs from the last earlier price: a bill
// states the same price every day.
func (im *importer) offerChanged(cells map[string]string, price, text string) {
	before, rounded := len(im.out.rows), im.report.Rounded
	im.offer(cells, price, 1, text)
	if len(im.out.rows) == before {
		return
	}
	last := im.out.rows[before]
	for i := before - 1; i >= 0; i-- {
		r := &im.out.rows[i]
		if r.Key() != last.Key() {
			continue
		}
		if r.Hourly == last.Hourly && r.Date < last.Date {
			im.out.rows = im.out.rows[:before]
			im.report.Kept--
			im.report.Repeated++
			im.report.Rounded = rounded
			im.at[last.machineKey()] = i
			delete(im.at, last.Key()+" "+last.Date.Date())
		}
		return
	}
}

// skuDetails reads the properties of a SKU in FOCUS 1.2; their names are written by plainName.
func skuDetails(text string) map[string]string {
	out := map[string]string{}
	if text == "" {
		return out
	}
	var raw map[string]any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return out
	}
	for k, v := range raw {
		switch v.(type) {
		case string, float64:
			out[plainName(k)] = fmt.Sprint(v)
		}
	}
	return out
}
