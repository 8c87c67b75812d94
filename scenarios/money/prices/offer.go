package prices

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"capcli"
)

// offer imports one price of a row: cells in the columns of a price file, and the list's amount for
// the given number of hours. text is the row for reports of rejects.
func (im *importer) offer(cells map[string]string, amount string, hours int64, text string) {
	im.report.Prices++
	usd, rounded, why := hourly(amount, hours)
	if usd == "0" && strings.EqualFold(cells["free"], "true") {
		why = ""
	}
	if why != "" {
		im.reject(why, text)
		return
	}
	cells = maps.Clone(cells)
	column := "usd_per_hour"
	if im.o.PerGPU {
		column = "usd_per_gpu_hour"
	}
	cells[column] = usd
	im.complete(cells)
	if why := countOf(cells["gpus"]); why != "" {
		im.reject(why, text)
		return
	}
	first := ""
	t := rowText{cells: cells, line: im.line, fault: func(column, _ string, _ ...any) { first = cmp.Or(first, column) }}
	row, ok := t.row()
	if !ok {
		why := first + " is not as a price file has it"
		if cells[first] == "" {
			why = fmt.Sprintf("%s is missing (--set %s=…)", first, first)
		}
		im.reject(why, text)
		return
	}
	im.take(row, rounded, text)
}

// take adds a valid price, or counts it as repeated or rejected.
func (im *importer) take(row Row, rounded bool, text string) {
	key := row.Key() + " " + row.Date.Date()
	if i, twice := im.at[key]; twice {
		if im.out.rows[i].Hourly == row.Hourly {
			im.report.Repeated++
			return
		}
		im.reject("another price of the same key and date", text)
		return
	}
	if k, known := im.at[row.machineKey()]; known && im.out.rows[k].GPUs != row.GPUs {
		im.reject("another number of GPUs than the same machine has before", text)
		return
	}
	im.at[key], im.at[row.machineKey()] = len(im.out.rows), len(im.out.rows)
	im.out.rows = append(im.out.rows, row)
	im.report.Kept++
	if rounded {
		im.report.Rounded++
	}
}

// complete fills in what the list leaves out: the values of --set, the machine's properties in the
// catalogue, and the list's name as the source.
func (im *importer) complete(cells map[string]string) {
	known, ok := im.machines[strings.ToLower(cells["machine"])]
	if ok {
		cells["gpu"] = known.GPU
		cells["gpus"] = cmp.Or(cells["gpus"], fmt.Sprint(known.GPUs))
		cells["provider"] = cmp.Or(cells["provider"], known.Provider)
	}
	for k, v := range im.o.Set {
		cells[k] = v
	}
	if !ok && im.o.Set["gpu"] == "" {
		cells["gpu"] = modelName(cells["gpu"])
	}
	cells["source"] = cmp.Or(cells["source"], filepath.Base(im.file))
	cells["region"] = cmp.Or(cells["region"], "any")
	if at, err := time.Parse(time.RFC3339, cells["date"]); err == nil {
		cells["date"] = at.UTC().Format(time.DateOnly)
	} else if len(cells["date"]) > len(time.DateOnly) {
		cells["date"] = cells["date"][:len(time.DateOnly)]
	}
}

// modelName writes a GPU's name as the catalogue does: A100 for NVIDIA A100.
func modelName(s string) string {
	s = strings.ToUpper(strings.TrimSpace(s))
	for _, maker := range []string{"NVIDIA ", "AMD ", "INSTINCT ", "TESLA "} {
		s = strings.TrimPrefix(s, maker)
	}
	s = strings.TrimSuffix(s, " BLACKWELL")
	return strings.ReplaceAll(strings.ReplaceAll(s, " ", "-"), "H100-80GB", "H100")
}

// countOf returns the reason why s is no number of GPUs; "" if it is one.
func countOf(s string) string {
	n, ok := new(big.Rat).SetString(s)
	switch {
	case len(s) > 20 || strings.ContainsAny(s, "eE/") || !ok:
		return "no number of GPUs (--set gpus=8)"
	case n.Sign() <= 0:
		return "a machine without a GPU"
	case !n.IsInt():
		return "a part of a GPU, not a whole one"
	}
	return ""
}

// hourly returns the hourly price for an amount over the given hours, rounded half up to the
// millionth of a dollar. rounded says whether rounding changed it; why is the reason if the amount
// is invalid.
func hourly(amount string, hours int64) (usd string, rounded bool, why string) {
	s := strings.TrimPrefix(strings.TrimSpace(amount), "$")
	switch {
	case len(s) > 40 || strings.Trim(s, "0123456789.eE+-") != "" || !strings.ContainsAny(s, "0123456789"):
		return "", false, "price is not a number"
	case strings.HasPrefix(s, "-"):
		return "", false, "price is negative"
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok && (len(exponent) > 3 || exponent == "") {
		return "", false, "price is not a number"
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", false, "price is not a number"
	}
	r.Quo(r, new(big.Rat).SetInt64(hours))
	if r.Sign() == 0 {
		return "0", false, "price is 0 (write free: true where it is meant)"
	}
	millionths := new(big.Rat).Mul(r, big.NewRat(1_000_000, 1))
	rounded = !millionths.IsInt()
	millionths.Add(millionths, big.NewRat(1, 2))
	n := new(big.Int).Quo(millionths.Num(), millionths.Denom())
	if n.Sign() == 0 || !n.IsInt64() || n.Int64() > int64(Dearest)*maxGPUs {
		return "", false, "price is too small or too large to be believed"
	}
	return capcli.USD(n.Int64()).Decimal(), rounded, ""
}

// lineLimit is a reader that fails at a line of more than most bytes.
type lineLimit struct {
	r    io.Reader
	most int
	n    int
}

func (l *lineLimit) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for _, c := range p[:n] {
		if l.n++; c == '\n' {
			l.n = 0
		}
		if l.n > l.most {
			return 0, fmt.Errorf("a line has over %d bytes: is it a price list?", l.most)
		}
	}
	return n, err
}
