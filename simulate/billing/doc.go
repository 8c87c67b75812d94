// Package billing prices what a run recorded: who held which GPUs, when and on
// which terms. It never runs anything again, so one run can be priced under a
// thousand rates.
//
// The unit of account is the cell, one pool in one month. The terms of the pool
// say what the cell costs and how much of that was for time nobody held. Every
// table of an invoice (by tier, terms, pool, month, tenant) is a sum over the same
// cells, each rounded once, so all tables add up to the invoice to the millionth of
// a dollar.
//
// # Portfolios
//
// Discounts are settled by the clock hour. A UseRecord is metered use, by the
// second; UseRecord.Hours gathers it by the clock hour. A Portfolio of Commitments is
// laid over those hours: a Bill has every row and conserves what was paid, a Quoter
// gives the total alone, thousands of portfolios a second. PriceUnder prices a run whose on-demand pools have such
// discounts, and its tables still sum.
//
// # Bills of others
//
// ReadUse takes metered use from CSV, or from a bill in FOCUS, which package focus
// reads. FocusRows writes a Bill, or the Invoice of a run, in FOCUS.
//
// # Products
//
// A product is a kind of commitment. Each is one file, product_NAME.go, with the
// provider's rule and the page that states it. A new one is one such file: a type
// with the methods of Product, and a line in its init that adds it to Products with
// a valid example; the tests hold every example to the laws of bills. For a scenario
// or a portfolio to name it, scenarios/portfolio_bought.go says which fields it has.
package billing
