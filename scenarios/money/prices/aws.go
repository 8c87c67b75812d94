package prices

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// offer is a contract in AWS's list. The list has one line for its upfront payment and one for its
// hourly price; awsOffers adds them up at the end.
type offer struct {
	cells   map[string]string
	line    int
	upfront string
	hourly  string
	text    string
}

// awsRow reads a row of the list that AWS publishes for EC2.
func (im *importer) awsRow(row []string) {
	cell := func(name string) string {
		if at := im.index(name); at >= 0 && at < len(row) {
			return strings.TrimSpace(row[at])
		}
		return ""
	}
	switch {
	case !strings.HasPrefix(cell("Product Family"), "Compute Instance"):
		im.skip("no machine")
		return
	case strings.Trim(cell("GPU"), "0NA") == "":
		im.skip("a machine without a GPU")
		return
	case cell("Tenancy") != "Shared" || cell("Operating System") != "Linux" || cmp.Or(cell("Pre Installed S/W"), "NA") != "NA":
		im.skip("not Linux alone in shared tenancy")
		return
	case cmp.Or(cell("CapacityStatus"), "Used") != "Used":
		im.skip("a reservation, used or not")
		return
	case cell("TermType") == "Reserved" && cell("OfferingClass") != "standard":
		im.skip("a convertible reservation")
		return
	}
	cells := map[string]string{
		"provider": "aws", "region": cmp.Or(cell("Region Code"), cell("Location")), "machine": cell("Instance Type"),
		"gpus": cell("GPU"), "date": cell("EffectiveDate"), "currency": cell("Currency"), "source": "",
	}
	text := strings.Join(row, ",")
	if cell("TermType") == "OnDemand" {
		cells["term"] = "on_demand"
		im.offer(cells, cell("PricePerUnit"), 1, text)
		return
	}
	term := map[string]string{"1yr": "1y", "3yr": "3y"}[cell("LeaseContractLength")]
	payment := map[string]string{"No Upfront": "none", "Partial Upfront": "partial", "All Upfront": "all"}[cell("PurchaseOption")]
	if term == "" || payment == "" {
		im.report.Prices++
		im.reject("a contract of a kind that is not known", text)
		return
	}
	cells["term"], cells["payment"] = term, payment
	key := cell("SKU") + "." + cell("OfferTermCode")
	o := im.pending[key]
	if o == nil {
		o = &offer{cells: cells, line: im.line, text: text}
		im.pending[key] = o
	}
	if cell("Unit") == "Quantity" {
		o.upfront = cell("PricePerUnit")
		return
	}
	o.hourly = cell("PricePerUnit")
}

// awsOffers imports the contracts. The price of one is its upfront payment, spread over the hours
// of the term, plus its hourly price.
func (im *importer) awsOffers() {
	inOrder := slices.SortedFunc(maps.Values(im.pending), func(a, b *offer) int { return cmp.Compare(a.line, b.line) })
	for _, o := range inOrder {
		im.line = o.line
		hours := map[string]int64{"1y": 8760, "3y": 3 * 8760}[o.cells["term"]]
		sum := new(big.Rat)
		bad := false
		for _, part := range []struct {
			amount string
			over   int64
		}{{o.upfront, hours}, {o.hourly, 1}} {
			if part.amount == "" {
				continue
			}
			r, ok := new(big.Rat).SetString(part.amount)
			if bad = bad || !ok || len(part.amount) > 40 || strings.ContainsAny(part.amount, "eE/-"); !bad {
				sum.Add(sum, r.Quo(r, new(big.Rat).SetInt64(part.over)))
			}
		}
		amount := "not a number"
		if !bad {
			amount = sum.FloatString(12)
		}
		im.offer(o.cells, amount, 1, o.text)
	}
	slices.SortStableFunc(im.out.rows, func(a, b Row) int { return cmp.Compare(a.Line, b.Line) })
}
