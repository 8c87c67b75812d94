package scenarios

import "testing"

// At list prices the product saves all of its discount, the project what is left
// of its own at three quarters of use.
func TestGCPTerms(t *testing.T) {
	x := play(t, "gcp-h100-1y-3y")
	for i, want := range []float64{1 - 0.439195, 1 - 0.693679/0.75, 0} {
		rate, _ := x.inv.ByPool[i].SavingsRate()
		checkNear(t, x.r.Record.Pools[i].Name, rate, want, 1e-5)
	}
	checkNear(t, "savings rate", x.savings(t), 0.39, 0.02)
	longer := play(t, "gcp-h100-1y-3y", "capacity.project.price=gcp/us-central1/h100/3y")
	rate, _ := longer.inv.ByPool[1].SavingsRate()
	checkNear(t, "the project for three years", rate, 1-0.439195/0.75, 1e-5)
	if n := len(x.s.Assumptions()); n != 3 {
		t.Errorf("%d prices have a source, want 3", n)
	}
}

// The reservation pays until the price falls: 85 % is above 69.4 % and below
// 89 %.
func TestPriceDrop(t *testing.T) {
	const rho, before = 0.693679, 182.0 / 365
	left := before + (1-before)*0.56 // of the on-demand price, over the year
	x := play(t, "price-drop", "capacity.list.price_path=null")
	checkNear(t, "saved without the fall", x.savings(t), 1-rho/0.85, 1e-5)
	x = play(t, "price-drop")
	checkNear(t, "saved with it", x.savings(t), 1-rho/(0.85*left), 1e-5)
	checkNear(t, "break-even use", rho/left, 0.89, 1e-4)
	x = play(t, "price-drop", "jobs.generate.classes[0].busy_share=0.9")
	checkNear(t, "saved at 90 % of use", x.savings(t), 1-rho/(0.9*left), 1e-5)
}
