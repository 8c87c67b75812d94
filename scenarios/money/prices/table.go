package prices

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// columns say which columns of a list hold the columns of a price file.
type columns struct {
	of     map[string]int // index by our column
	prices []priceCells
}

// priceCells is a column of prices.
type priceCells struct {
	term  string // "" takes the term from the row
	at    int
	hours int64 // hours that the amount covers: 1, or 730 for a month
}

// hoursPerMonth is the length of a month in Google Cloud's prices: a twelfth of 8,760 hours.
const hoursPerMonth = 730

// aliases are the names that lists use for our columns, as plainName writes them.
var aliases = map[string][]string{
	"provider":   {"provider", "providername", "cloud", "vendor"},
	"region":     {"region", "regionid", "regioncode", "armregionname", "location"},
	"machine":    {"machine", "machinetype", "instancetype", "instance", "vmsize", "armskuname"},
	"gpu":        {"gpu", "gpumodel", "acceleratorname", "accelerator", "gputype"},
	"gpus":       {"gpus", "gpucount", "acceleratorcount", "numgpus"},
	"term":       {"term", "terms"},
	"payment":    {"payment"},
	"free":       {"free"},
	"covers":     {"covers"},
	"guarantees": {"guarantees"},
	"fenced":     {"fenced"},
	"currency":   {"currency", "currencycode", "billingcurrency"},
	"date":       {"date", "effectivedate", "effectivestartdate", "asof"},
	"source":     {"source"},
}

// priceAliases are the names that lists use for columns of prices, by term. The first name found is
// used for each term.
var priceAliases = []struct {
	term  string
	hours int64
	names []string
}{
	{"on_demand", 1, []string{"ondemand", "hourondemand", "ondemandhour", "priceondemandhour", "hourondemandusd", "ondemandprice"}},
	{"spot", 1, []string{"spot", "hourspot", "spothour", "pricespothour", "spotprice"}},
	{"block", 1, []string{"block", "effectiveinstancehourusd"}},
	{"1y", 1, []string{"1y", "hour1y"}},
	{"1y", hoursPerMonth, []string{"month1y"}},
	{"3y", 1, []string{"3y", "hour3y"}},
	{"3y", hoursPerMonth, []string{"month3y"}},
	{"1y-none", 1, []string{"1ynone", "ri1ystdnoupfronthour"}},
	{"1y-partial", 1, []string{"1ypartial", "ri1ystdpartialupfronthour"}},
	{"1y-all", 1, []string{"1yall", "ri1ystdallupfronthour"}},
	{"3y-none", 1, []string{"3ynone", "ri3ystdnoupfronthour"}},
	{"3y-partial", 1, []string{"3ypartial", "ri3ystdpartialupfronthour"}},
	{"3y-all", 1, []string{"3yall", "ri3ystdallupfronthour"}},
}

// bind finds the columns: first those named by --map, then those with usual names.
func (im *importer) bind() error {
	im.columns.of = map[string]int{}
	used := map[int]bool{}
	mapped := map[string]bool{}
	for _, ours := range slices.Sorted(maps.Keys(im.o.Map)) {
		name, hours := cutHours(im.o.Map[ours])
		at := im.index(name)
		if at < 0 {
			return missing("--map %s=%s: the list has no such column: have %s", ours, im.o.Map[ours], strings.Join(im.head, ", "))
		}
		used[at] = true
		term, isTerm := NormalTerm(ours)
		switch {
		case isTerm:
			mapped[term] = true
			im.price(term, at, hours)
		case ours == "usd_per_hour" || ours == "usd_per_gpu_hour":
			mapped[""] = true
			im.o.PerGPU = im.o.PerGPU || ours == "usd_per_gpu_hour"
			im.price("", at, hours)
		default:
			im.columns.of[ours] = at
		}
	}
	for _, ours := range slices.Sorted(maps.Keys(aliases)) {
		if _, known := im.columns.of[ours]; known {
			continue
		}
		for _, name := range aliases[ours] {
			if at := im.index(name); at >= 0 && !used[at] {
				im.columns.of[ours], used[at] = at, true
				break
			}
		}
	}
	if im.report.Format == "aws" || im.report.Format == "focus" {
		return im.checkNeeds()
	}
	im.bindPrices(used, mapped)
	if len(im.columns.prices) == 0 {
		return im.wrong(im.line, "", "no column of it is known as a price: "+strings.Join(im.head, ", "), "name them: --map on_demand=price,1y=monthly_1y/730")
	}
	for i, h := range im.head {
		if !used[i] {
			im.report.Ignored = append(im.report.Ignored, h)
		}
	}
	return im.checkNeeds()
}

// bindPrices finds the columns of prices by name: one column for all terms if the rows state their
// term, else one for each term.
func (im *importer) bindPrices(used map[int]bool, mapped map[string]bool) {
	if _, long := im.columns.of["term"]; long && !mapped[""] {
		for _, name := range []string{"usd_per_hour", "usd_per_gpu_hour", "price", "hourly"} {
			if at := im.index(name); at >= 0 && !used[at] {
				used[at], mapped[""] = true, true
				im.o.PerGPU = im.o.PerGPU || name == "usd_per_gpu_hour"
				im.price("", at, 1)
				break
			}
		}
		if at := im.index("usd_per_gpu_hour"); at >= 0 { // a price file has both columns; they state the same price
			used[at] = true
		}
	}
	if mapped[""] {
		return
	}
	for _, c := range priceAliases {
		for _, name := range c.names {
			if at := im.index(name); at >= 0 && !used[at] && !mapped[c.term] {
				used[at], mapped[c.term] = true, true
				im.price(c.term, at, c.hours)
			}
		}
	}
	if at := im.index("price"); at >= 0 && !used[at] && !mapped["on_demand"] {
		used[at] = true
		im.price("on_demand", at, 1)
	}
}

// checkNeeds fails if the list lacks a column that every price needs.
func (im *importer) checkNeeds() error {
	for _, need := range []string{"machine", "date"} {
		_, there := im.columns.of[need]
		if there || im.o.Set[need] != "" || im.report.Format == "aws" || im.report.Format == "focus" {
			continue
		}
		return im.wrong(im.line, need, "no column of it is known as the "+need+": "+strings.Join(im.head, ", "),
			fmt.Sprintf("name it, --map %s=COLUMN, or say it for all rows, --set %s=%s", need, need, map[string]string{"machine": "a3-highgpu-8g", "date": "2026-07-30"}[need]))
	}
	if im.report.Format == "gcp" && im.o.Set["provider"] == "" {
		set := map[string]string{"provider": "gcp"}
		for k, v := range im.o.Set {
			set[k] = cmp.Or(v, set[k])
		}
		im.o.Set = set
	}
	return nil
}

func (im *importer) price(term string, at int, hours int64) {
	im.columns.prices = append(im.columns.prices, priceCells{term, at, hours})
	text := im.head[at]
	if term != "" {
		text = term + " from " + text
	}
	if hours > 1 {
		text += "/" + strconv.FormatInt(hours, 10)
	}
	im.report.Columns = append(im.report.Columns, text)
}

// cutHours splits month_1y/730 into the column and the hours; the hours are 1 if there are none.
func cutHours(s string) (string, int64) {
	name, hours, ok := strings.Cut(s, "/")
	if n, err := strconv.ParseInt(hours, 10, 32); ok && err == nil && n > 0 {
		return name, n
	}
	return s, 1
}

// cells returns the values of a row by our column.
func (im *importer) cells(row []string) map[string]string {
	out := map[string]string{}
	for ours, at := range im.columns.of {
		if at < len(row) {
			out[ours] = strings.TrimSpace(row[at])
		}
	}
	return out
}

// tableRow imports the prices of one row. An empty cell is no price.
func (im *importer) tableRow(row []string) {
	cells := im.cells(row)
	text := strings.Join(row, ",")
	found := false
	for _, c := range im.columns.prices {
		if c.at >= len(row) || strings.TrimSpace(row[c.at]) == "" {
			continue
		}
		found = true
		if c.term != "" {
			term, payment, _ := strings.Cut(c.term, "-")
			cells["term"], cells["payment"] = term, payment
		}
		im.offer(cells, row[c.at], c.hours, text)
	}
	if !found {
		im.skip("a row without a price")
	}
}
