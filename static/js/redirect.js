// A page that moved takes the place within it along; without scripts the refresh in the head leads there.
location.replace(document.currentScript.dataset.target + location.search + location.hash);
