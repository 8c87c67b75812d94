package prices

import (
	"bytes"
	"fmt"
	"testing"
)

func BenchmarkFindPrice(b *testing.B) {
	c := Catalogue()
	for b.Loop() {
		if _, err := c.Find("gcp/us-central1/h100/1y"); err != nil {
			b.Fatal(err)
		}
	}
}

// Rows of a list of 20,000 machines with four prices each.
func BenchmarkImportPrices(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("date,machine_type,region,gpu,gpu_count,hour_ondemand,hour_spot,month_1y,month_3y\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "2026-07-30,m%d,r%d,h100-80gb,8,88.4899999025753,50.6095408219178,44810.08066464,28370.99821392\n", i%500, i/500)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		p, _, err := Import("l.csv", bytes.NewReader(text.Bytes()), ImportOptions{Format: "gcp"})
		if err != nil || len(p.rows) != 80_000 {
			b.Fatal(len(p.rows), err)
		}
	}
}
