package static

import "encoding/json"

// The colours around a page, as its top has them (--sheet in css/tokens.css) by day and by
// night.
const (
	LightTheme = "#ffffff"
	DarkTheme  = "#17191d"
)

// webManifest tells a browser how to install the product beside other programs.
type webManifest struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	Description     string         `json:"description"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	BackgroundColor string         `json:"background_color"`
	ThemeColor      string         `json:"theme_color"`
	Icons           []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// manifest names the icons by the addresses that they have.
func manifest(urls map[string]string) []byte {
	icon := func(name, sizes, kind, purpose string) manifestIcon {
		return manifestIcon{Src: urls["img/"+name], Sizes: sizes, Type: kind, Purpose: purpose}
	}
	raw, err := json.MarshalIndent(webManifest{
		ID: "/", StartURL: "/", Scope: "/", Display: "standalone",
		Name: "Countersign", ShortName: "Countersign",
		Description:     "Approve or reject what AI agents want to do.",
		BackgroundColor: LightTheme, ThemeColor: LightTheme,
		Icons: []manifestIcon{
			icon("favicon.svg", "any", "image/svg+xml", "any"),
			icon("icon-192.png", "192x192", "image/png", "any"),
			icon("icon-512.png", "512x512", "image/png", "any"),
			icon("icon-maskable-512.png", "512x512", "image/png", "maskable"),
		},
	}, "", "  ")
	if err != nil {
		panic("static: " + err.Error()) // strings always have a JSON form
	}
	return raw
}
