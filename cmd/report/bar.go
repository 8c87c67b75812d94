package report

import (
	"math"
	"strings"
)

// Bar returns a bar of length value/most × width columns, in eighths of a column and at most
// width. A value above 0 has at least an eighth. The bar is "" where value, most or width is not
// above 0 or not finite.
func Bar(value, most float64, width int) string {
	if !finite(value) || !finite(most) || most <= 0 || value <= 0 || width <= 0 {
		return ""
	}
	eighths := int(math.Round(min(value/most, 1) * float64(width*8)))
	eighths = max(eighths, 1)
	bar := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return bar
}

// Spark returns values as a line of blocks, one for each value, on a scale from 0 to the largest.
// NaN and infinities are a space.
func Spark(values []float64) string {
	most := 0.0
	for _, v := range values {
		if finite(v) {
			most = max(most, v)
		}
	}
	return spark(values, most)
}

// spark returns values as blocks on a scale from 0 to most.
func spark(values []float64, most float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		switch {
		case !finite(v):
			b.WriteByte(' ')
		case v <= 0 || most == 0:
			b.WriteRune(blocks[0])
		default:
			b.WriteRune(blocks[min(int(v/most*8), 7)])
		}
	}
	return b.String()
}
